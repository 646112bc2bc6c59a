/// One app's notifications on a device's screen. Each call takes time proportional to their number.
package struct DeviceScreen: Sendable {
    /// The notifications, newest first.
    package private(set) var notifications: [Entry] = []

    package struct Entry: Sendable {
        /// The request's identifier. A notification with the same one replaces this one.
        package let identifier: String
        package let shown: ShownNotification
    }

    package struct Group: Sendable {
        /// The conversation; empty for notifications without one, which iOS groups by app.
        package let thread: String
        /// The entries, newest first.
        package let entries: [Entry]
    }

    package init() {}

    /// Removes the notifications that a push withdraws, and shows its own on top, replacing one with the same identifier.
    ///
    /// Source: Apple, `UNNotificationRequest.identifier`.
    package mutating func show(_ push: DeliveredPush, identifier: String) {
        notifications.removeAll { push.removed.contains($0.identifier) }
        guard let shown = push.shown else { return }
        notifications.removeAll { $0.identifier == identifier }
        notifications.insert(Entry(identifier: identifier, shown: shown), at: 0)
    }

    /// The notifications grouped by conversation, starting with the group that contains the newest one.
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
