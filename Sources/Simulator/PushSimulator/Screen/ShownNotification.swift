package import Foundation
internal import UserNotifications

/// A notification as the lock screen has it. Travels as JSON between the extension's process and the simulator.
package struct ShownNotification: Codable, Equatable, Sendable {
    package var title: String
    package var subtitle: String
    package var body: String
    package var badge: Int?
    /// A file's name, or `default`; nil for none.
    package var sound: String?
    package var isSoundCritical: Bool
    package var thread: String
    package var category: String
    package var interruptionLevel: String
    package var relevanceScore: Double
    package var targetContent: String?
    /// In their order; in the device's own data store.
    package var attachments: [ShownAttachment]
    /// The person's picture, as the extension has told the system; empty for a person without one, nil without a person.
    package var avatar: Data?
    /// Notifications that its extension has removed.
    package var removed: [String]?
    /// The user info as JSON; `{}` where it is not of JSON's types.
    package var userInfo: Data

    var texts: [String] { [title, subtitle, body].filter { !$0.isEmpty } }

    package var hasText: Bool { !texts.isEmpty }

    /// As the filtering entitlement counts it: no text, no sound, no attachment.
    var isEmpty: Bool { !hasText && sound == nil && attachments.isEmpty }

    init(_ content: UNNotificationContent) {
        title = content.title
        subtitle = content.subtitle
        body = content.body
        badge = content.badge?.intValue
        sound = content.sound.map { $0.name?.rawValue ?? "default" }
        isSoundCritical = content.sound?.isCritical ?? false
        thread = content.threadIdentifier
        category = content.categoryIdentifier
        interruptionLevel = Self.name(content.interruptionLevel)
        relevanceScore = content.relevanceScore
        targetContent = content.targetContentIdentifier
        attachments = content.attachments.map { ShownAttachment($0) }
        avatar = content.communication.map { $0.image ?? Data() }
        let userInfo = content.userInfo as? [String: Any] ?? [:]
        let isJSON = JSONSerialization.isValidJSONObject(userInfo)
        self.userInfo = (isJSON ? try? JSONSerialization.data(withJSONObject: userInfo) : nil) ?? Data("{}".utf8)
    }

    /// An extension's answer, with its changes to the list.
    init(_ content: UNNotificationContent, _ changes: UNUserNotificationCenter.Changes) {
        self.init(content)
        badge = badge ?? changes.badge
        removed = changes.removed
    }

    private static func name(_ level: UNNotificationInterruptionLevel) -> String {
        switch level {
        case .passive: "passive"
        case .active: "active"
        case .timeSensitive: "time-sensitive"
        case .critical: "critical"
        @unknown default: "active"
        }
    }
}
