import Foundation
internal import UserNotifications

/// A notification as the payload alone describes it: what iOS makes of `aps`.
///
/// Source: Apple, "Generating a remote notification", tables 1 to 3.
struct WireNotification {
    private let payload: [String: Any]
    private let aps: [String: Any]

    init(_ payload: [String: Any]) {
        self.payload = payload
        aps = payload["aps"] as? [String: Any] ?? [:]
    }

    var hasText: Bool { [title, subtitle, body].contains { !$0.isEmpty } }

    /// What an extension gets, and what is shown where none changes it.
    var content: UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = title
        content.subtitle = subtitle
        content.body = body
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

    private var title: String { text("title", key: "title-loc-key", arguments: "title-loc-args") }
    private var subtitle: String { text("subtitle", key: "subtitle-loc-key", arguments: "subtitle-loc-args") }
    private var body: String { text("body", key: "loc-key", arguments: "loc-args") }

    /// The simulator has no bundle of the app's: a key stands for its own text, as on a device without translations.
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
