package import Foundation

/// What one app has on a device's screen: the list of its notifications, and the number on its icon.
///
/// A value: whoever has several deliveries at once keeps it behind a lock. One call takes time in proportion to the
/// list.
package struct DeviceScreen: Sendable {
    /// The newest first.
    package private(set) var notifications: [Entry] = []
    /// 0 for none.
    package private(set) var badge = 0

    package struct Entry: Sendable {
        /// The request's: a notification with the same one replaces this one.
        package let identifier: String
        package let shown: ShownNotification
        package let arrived: Date
    }

    package struct Group: Sendable {
        /// Empty for those that name none; iOS groups these by the app.
        package let thread: String
        /// The newest first.
        package let entries: [Entry]
    }

    package struct Change: Sendable {
        /// Whether it took the place of one with its identifier.
        package let isReplacement: Bool
        /// Identifiers of those that were removed or fell off the list, whose files nobody needs any more.
        package let removed: [String]
    }

    /// As many are kept; what Apple's limit is, it does not say.
    package static let maximumCount = 1_000

    package init() {}

    /// Puts what a push shows at the top of the list, in place of a notification with the same identifier, and sets the
    /// badge.
    ///
    /// Source: Apple, `UNNotificationRequest.identifier`; `UNNotificationContent.badge`: nil leaves the number, 0
    /// removes it.
    @discardableResult package mutating func show(_ push: DeliveredPush, identifier: String, at time: Date) -> Change {
        if let badge = push.badge { self.badge = max(0, badge) }
        notifications.removeAll { push.removed.contains($0.identifier) }
        guard let shown = push.shown else { return Change(isReplacement: false, removed: push.removed) }
        let previousCount = notifications.count
        notifications.removeAll { $0.identifier == identifier }
        let isReplacement = notifications.count < previousCount
        notifications.insert(Entry(identifier: identifier, shown: shown, arrived: time), at: 0)
        let fallen = notifications.dropFirst(Self.maximumCount).map(\.identifier)
        notifications.removeLast(fallen.count)
        return Change(isReplacement: isReplacement, removed: push.removed + fallen)
    }

    /// By conversation; the group with the newest notification first.
    ///
    /// Source: Apple, `UNNotificationContent.threadIdentifier`.
    package var groups: [Group] {
        var order: [String] = []
        var entries: [String: [Entry]] = [:]
        for entry in notifications {
            if entries[entry.shown.thread] == nil { order.append(entry.shown.thread) }
            entries[entry.shown.thread, default: []].append(entry)
        }
        return order.map { Group(thread: $0, entries: entries[$0] ?? []) }
    }
}
