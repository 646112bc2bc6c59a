public import Foundation
internal import SealedPush

/// A push as Xcode's `.apns` files and `xcrun simctl push` have it: the payload, and optionally the app it is for.
///
/// Source: Xcode 11.4 release notes, "Simulator".
public struct PushFile {
    /// The payload, without the simulator's own key.
    public let payload: [String: Any]
    /// The payload as APNs would get it, without white space.
    public let json: Data
    /// `Simulator Target Bundle`, where the file names one.
    public let targetBundle: String?

    /// No file is read further than this.
    public static let maximumFileByteCount = 65_536
    /// The most APNs takes. Source: Apple, "Sending notification requests to APNs".
    public static let maximumPayloadByteCount = 4_096

    /// Reads a file's bytes: one JSON object of at most 64 KiB whose payload has at most 4,096 bytes without white space.
    public init(parsing bytes: Data) throws(PushFileError) {
        guard bytes.count <= Self.maximumFileByteCount else { throw .tooLarge(byteCount: bytes.count) }
        // Foundation's parser recurses: hostile nesting is refused before it sees any.
        guard JSONReader.isWithinLimits(Array(bytes), maximumDepth: Self.maximumDepth),
            let object = try? JSONSerialization.jsonObject(with: bytes),
            var payload = object as? [String: Any]
        else { throw .notJSON }
        targetBundle = payload.removeValue(forKey: Self.targetBundleKey) as? String
        guard let json = try? JSONSerialization.data(withJSONObject: payload, options: [.withoutEscapingSlashes]) else {
            throw .notJSON
        }
        guard json.count <= Self.maximumPayloadByteCount else { throw .tooLarge(byteCount: json.count) }
        self.payload = payload
        self.json = json
    }

    private static let maximumDepth = 64
    private static let targetBundleKey = "Simulator Target Bundle"
}

/// Why a file is no push.
public enum PushFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON
    /// APNs would answer 413, `PayloadTooLarge`.
    case tooLarge(byteCount: Int)

    public var description: String {
        switch self {
        case .notJSON: "this is no push: it is not one JSON object"
        case .tooLarge(let count):
            "this push has \(count) bytes, and APNs takes \(PushFile.maximumPayloadByteCount) at most"
        }
    }
}
