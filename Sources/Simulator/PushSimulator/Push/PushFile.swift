package import Foundation
package import SealedPush
internal import UserNotifications

/// A push in the format of Xcode's `.apns` files and `xcrun simctl push`: the payload, and optionally its target app.
///
/// Source: Xcode 11.4 release notes, "Simulator".
package struct PushFile {
    /// The payload, without the Simulator's own key.
    package let payload: [String: Any]
    /// The payload as APNs would receive it, without white space.
    package let json: Data
    /// The value of `Simulator Target Bundle`, if the file has one.
    package let targetBundle: String?
    /// The reason that an alert push doesn't wake the extension; nil if it does.
    private let startFault: StartFault?

    package static let maximumFileByteCount = 65_536
    /// The largest payload that APNs accepts. Source: Apple, "Sending notification requests to APNs".
    package static let maximumPayloadByteCount = PayloadLimit.byteCount

    /// Reads a file's bytes: one JSON object of at most 64 KiB, whose payload is at most 4,096 bytes without white
    /// space.
    package init(parsing bytes: Data) throws(PushFileError) {
        guard bytes.count <= Self.maximumFileByteCount else { throw .tooLarge(byteCount: bytes.count) }
        var members: [String: JSONValue]
        do throws(JSONFault) {
            members = try JSONReader.members(bytes, maximumDepth: JSONReader.maximumPayloadDepth).dictionary
        } catch { throw .notJSON(error) }
        targetBundle = members.removeValue(forKey: "Simulator Target Bundle")?.string
        var writer = JSONWriter()
        writer.value(.object(members))
        let json = Data(writer.bytes)
        guard json.count <= Self.maximumPayloadByteCount else { throw .tooLarge(byteCount: json.count) }
        startFault = StartFault(payload: members)
        payload = members.mapValues(\.foundation)
        self.json = json
    }
}

package enum PushFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case notJSON(JSONFault)
    /// APNs would respond with 413, `PayloadTooLarge`.
    case tooLarge(byteCount: Int)

    package var description: String {
        switch self {
        case .notJSON(let fault): "not a push, because it isn't a single JSON object: \(fault)"
        case .tooLarge(let count):
            "the push is \(count) bytes; APNs accepts at most \(PushFile.maximumPayloadByteCount)"
        }
    }
}

extension JSONValue {
    /// The value as iOS represents payloads: property list classes and NSNull.
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

extension PushFile {
    /// The sealed field of a push that wakes the app and not the extension; nil for any other push.
    var backgroundField: String? {
        let wakesApp = (payload["aps"] as? [String: Any])?["content-available"] as? Int == 1
        guard startFault == .background || startFault == .noAlert && wakesApp else { return nil }
        return payload[Envelope.fieldName] as? String
    }

    var original: ShownNotification { ShownNotification(WireNotification(payload).content) }

    /// Returns the result without the extension, or nil if iOS wakes it.
    ///
    /// - Parameter pushType: The value of `apns-push-type`.
    func shownUnchanged(pushType: String) -> DeliveredPush? {
        guard pushType == "alert" else {
            return DeliveredPush(notShownBecause: "a push of type \(pushType) doesn't show an alert")
        }
        switch startFault {
        case .noAlert, .background:
            return DeliveredPush(notShownBecause: "the push has no alert text", silent: original)
        case .notMutable:
            let note = "the push has no mutable-content, so the extension is not woken"
            return DeliveredPush(outcome: .original, shown: original, note: note)
        case nil: return nil
        }
    }
}

/// A notification as the payload alone describes it, which is how iOS interprets `aps`.
///
/// Source: Apple, "Generating a remote notification", tables 1 to 3.
struct WireNotification {
    private let payload: [String: Any]
    private let aps: [String: Any]

    init(_ payload: [String: Any]) {
        self.payload = payload
        aps = payload["aps"] as? [String: Any] ?? [:]
    }

    /// The content that an extension receives, and that is shown if no extension changes it.
    var content: UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = text("title", key: "title-loc-key", arguments: "title-loc-args")
        content.subtitle = text("subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args")
        content.body = text("body", key: "loc-key", arguments: "loc-args")
        content.badge = (aps["badge"] as? Int).map { NSNumber(value: $0) }
        content.sound = sound
        content.threadIdentifier = aps["thread-id"] as? String ?? ""
        content.categoryIdentifier = aps["category"] as? String ?? ""
        content.targetContentIdentifier = aps["target-content-id"] as? String
        content.relevanceScore = aps["relevance-score"] as? Double ?? 0
        content.filterCriteria = aps["filter-criteria"] as? String
        content.interruptionLevel = interruptionLevel
        content.userInfo = payload
        return (content.copy() as? UNNotificationContent) ?? content
    }

    private var alert: [String: Any] {
        if let body = aps["alert"] as? String { return ["body": body] }
        return aps["alert"] as? [String: Any] ?? [:]
    }

    /// The simulator has no app bundle, so a key stands for its own text, as on a device without translations.
    private func text(_ plain: String, key: String, arguments: String) -> String {
        guard let format = alert[key] as? String, !format.isEmpty else { return alert[plain] as? String ?? "" }
        return LocalizedFormat.fill(format, with: alert[arguments] as? [String] ?? [])
    }

    private var sound: UNNotificationSound? {
        if let name = aps["sound"] as? String {
            return name == "default" ? .default : UNNotificationSound(named: UNNotificationSoundName(name))
        }
        guard let sound = aps["sound"] as? [String: Any] else { return nil }
        let name = UNNotificationSoundName(sound["name"] as? String ?? "default")
        guard (sound["critical"] as? Int) == 1 else { return UNNotificationSound(named: name) }
        return .criticalSoundNamed(name, withAudioVolume: Float(sound["volume"] as? Double ?? 1))
    }

    private var interruptionLevel: UNNotificationInterruptionLevel {
        switch aps["interruption-level"] as? String {
        case "passive": .passive
        case "time-sensitive": .timeSensitive
        case "critical": .critical
        default: .active
        }
    }
}
