package import Foundation
internal import UserNotifications

/// A notification as the lock screen shows it. Sent as JSON between the extension's process and the simulator.
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
    package var filterCriteria: String?
    /// The attachments in order, stored in the device's own data store.
    package var attachments: [ShownAttachment]
    /// The picture of the sender or of the group that the extension gave the system; empty if there is none, nil if there is
    /// no person.
    package var avatar: Data?
    /// The number of people in the sender's group; nil if there is no group.
    package var groupCount: Int?
    /// How the phone's contacts know the sender.
    package var contact: String?
    /// The identifiers of notifications that the extension removed.
    package var removed: [String]?
    /// The user info as JSON, or `{}` if it contains values that JSON can't represent.
    package var userInfo: Data

    var texts: [String] { [title, subtitle, body].filter { !$0.isEmpty } }

    package var hasText: Bool { !texts.isEmpty }

    /// Whether the notification is empty, as the filtering entitlement defines it: no text, no sound, no attachment.
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
        filterCriteria = content.filterCriteria
        attachments = content.attachments.map { ShownAttachment($0) }
        avatar = content.communication.map { $0.shownImage ?? Data() }
        groupCount = content.communication.flatMap { $0.group == nil ? nil : $0.recipientCount }
        contact = content.communication?.contact
        let userInfo = content.userInfo as? [String: Any] ?? [:]
        let isJSON = JSONSerialization.isValidJSONObject(userInfo)
        self.userInfo = (isJSON ? try? JSONSerialization.data(withJSONObject: userInfo) : nil) ?? Data("{}".utf8)
    }

    /// Creates a notification from an extension's content and its changes to the list.
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

extension ShownNotification {
    /// Returns the members that `--json` prints of the notification; null or empty if none is shown.
    static func jsonObject(of shown: ShownNotification?) -> [String: Any] {
        func text(_ value: String?) -> Any { value.flatMap { $0.isEmpty ? nil : $0 } ?? NSNull() }
        var object: [String: Any] = [
            "title": text(shown?.title), "subtitle": text(shown?.subtitle), "body": text(shown?.body),
            "sound": text(shown?.sound), "thread": text(shown?.thread), "category": text(shown?.category),
            "interruptionLevel": text(shown?.interruptionLevel), "relevance": shown?.relevanceScore ?? NSNull(),
            "targetContent": text(shown?.targetContent), "filterCriteria": text(shown?.filterCriteria),
            "attachments": shown?.attachments.map(\.jsonObject) ?? [],
            "data": shown?.data ?? NSNull(), "userInfoKeys": shown?.userInfoObject.keys.sorted() ?? [],
        ]
        object["avatarBytes"] = shown?.avatar?.count
        object["account"] = shown?.sealedPush?["account"]
        object["groupCount"] = shown?.groupCount
        object["contact"] = shown?.contact
        return object
    }

    /// Phrases for the members that a lock screen doesn't draw and that aren't as usual.
    var effects: [String] {
        var effects: [String] = []
        if !thread.isEmpty { effects.append("thread \(thread)") }
        if !category.isEmpty { effects.append("category \(category)") }
        if interruptionLevel != "active" { effects.append(interruptionLevel) }
        if relevanceScore != 0 { effects.append("relevance \(relevanceScore)") }
        if let account = sealedPush?["account"] as? String { effects.append("account \(account)") }
        if let groupCount { effects.append("group of \(groupCount)") }
        if let contact { effects.append("contact \(contact)") }
        if let filterCriteria { effects.append("filter \(filterCriteria)") }
        if let targetContent { effects.append("window \(targetContent)") }
        return effects
    }

    var userInfoObject: [String: Any] { (try? JSONSerialization.jsonObject(with: userInfo)) as? [String: Any] ?? [:] }

    /// The service module's claim about the message; nil if there is none.
    var sealedPush: [String: Any]? {
        // DeviceState 31.2: if the user info contains any other member, the claim came with the push itself.
        let userInfo = userInfoObject
        return userInfo.count == 1 ? userInfo["sealed-push"] as? [String: Any] : nil
    }

    /// The message's data, which the service module passes on as JSON text.
    private var data: Any? {
        guard let text = sealedPush?["data"] as? String else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(text.utf8), options: [.fragmentsAllowed])
    }
}
