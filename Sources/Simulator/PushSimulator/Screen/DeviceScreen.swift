/// One app's notifications on a device's screen. A call takes time in proportion to their number.
package struct DeviceScreen: Sendable {
    /// The newest first.
    package private(set) var notifications: [Entry] = []

    package struct Entry: Sendable {
        /// The request's: a notification with the same one replaces this one.
        package let identifier: String
        package let shown: ShownNotification
    }

    package struct Group: Sendable {
        /// Empty for those that name none; iOS groups these by the app.
        package let thread: String
        /// The newest first.
        package let entries: [Entry]
    }

    package init() {}

    /// Takes away what a push removes, and puts what it shows at the top, in place of a notification with the same identifier.
    ///
    /// Source: Apple, `UNNotificationRequest.identifier`.
    package mutating func show(_ push: DeliveredPush, identifier: String) {
        notifications.removeAll { push.removed.contains($0.identifier) }
        guard let shown = push.shown else { return }
        notifications.removeAll { $0.identifier == identifier }
        notifications.insert(Entry(identifier: identifier, shown: shown), at: 0)
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
