package import Foundation
internal import SealedPush

/// A push as Xcode's `.apns` files and `xcrun simctl push` have it: the payload, and optionally the app it is for.
///
/// Source: Xcode 11.4 release notes, "Simulator".
package struct PushFile {
    /// The payload, without the simulator's own key.
    package let payload: [String: Any]
    /// The payload as APNs would get it, without white space.
    package let json: Data
    /// `Simulator Target Bundle`, where the file names one.
    package let targetBundle: String?

    /// No file is read further than this.
    package static let maximumFileByteCount = 65_536
    /// The most APNs takes. Source: Apple, "Sending notification requests to APNs".
    package static let maximumPayloadByteCount = 4_096

    /// Reads a file's bytes: one JSON object of at most 64 KiB whose payload has at most 4,096 bytes without white space.
    package init(parsing bytes: Data) throws(PushFileError) {
        guard bytes.count <= Self.maximumFileByteCount else { throw .tooLarge(byteCount: bytes.count) }
        let members = JSONReader.object(
            Array(bytes), maximumByteCount: Self.maximumFileByteCount, maximumDepth: JSONReader.maximumPayloadDepth)
        guard var members else { throw .notJSON }
        targetBundle = members.removeValue(forKey: "Simulator Target Bundle")?.string
        var writer = JSONWriter()
        writer.value(.object(members))
        let json = Data(writer.bytes)
        guard json.count <= Self.maximumPayloadByteCount else { throw .tooLarge(byteCount: json.count) }
        payload = members.mapValues(\.foundation)
        self.json = json
    }
}

/// Why a file is no push.
package enum PushFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON
    /// APNs would answer 413, `PayloadTooLarge`.
    case tooLarge(byteCount: Int)

    package var description: String {
        switch self {
        case .notJSON: "this is no push: it is not one JSON object in which no name comes twice"
        case .tooLarge(let count):
            "this push has \(count) bytes, and APNs takes \(PushFile.maximumPayloadByteCount) at most"
        }
    }
}

extension JSONValue {
    /// As iOS hands a payload over: property lists' classes, and NSNull.
    var foundation: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .number(let value): NSNumber(value: value)
        case .string(let value): value
        case .array(let values): values.map(\.foundation)
        case .object(let members): members.mapValues(\.foundation)
        }
    }
}

/// Whether iOS wakes the app's notification service extension for a push.
///
/// Source: Apple, "Modifying content in newly delivered notifications": an alert push, whose alert has a title, subtitle
/// or body, with `mutable-content` 1.
package enum WakeRule: Equatable, Sendable {
    case wakes
    /// Shown as it came: it has an alert, and the extension is not asked.
    case showsOriginal(because: String)
    /// Nothing is shown.
    case showsNothing(because: String)

    /// - Parameter pushType: what `apns-push-type` says.
    package static func decide(_ push: PushFile, pushType: String) -> WakeRule {
        guard pushType == "alert" else { return .showsNothing(because: "a push of type \(pushType) shows no alert") }
        guard WireNotification(push.payload).hasText else {
            return .showsNothing(because: "the push has no alert text")
        }
        let aps = push.payload["aps"] as? [String: Any] ?? [:]
        guard (aps["mutable-content"] as? Int) == 1 else {
            return .showsOriginal(because: "the push has no mutable-content, so the extension is not woken")
        }
        return .wakes
    }
}
