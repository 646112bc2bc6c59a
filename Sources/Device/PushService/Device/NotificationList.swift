package import UserNotifications

/// The app's notifications on the device: the system's list, or a test device's. The names are Apple's.
package protocol NotificationList {
    /// Sends responses and questions to a delegate.
    func report(to delegate: any UNUserNotificationCenterDelegate)
    nonisolated(nonsending) func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool
    nonisolated(nonsending) func deliveredNotifications() async -> [DeliveredNotification]
    nonisolated(nonsending) func add(_ request: UNNotificationRequest) async throws
    func removeDeliveredNotifications(withIdentifiers identifiers: [String])
    func removeAllDeliveredNotifications()
    nonisolated(nonsending) func setBadgeCount(_ newBadgeCount: Int) async throws
}

/// The system's list.
struct SystemNotificationList: NotificationList {
    let center: UNUserNotificationCenter

    func report(to delegate: any UNUserNotificationCenterDelegate) { center.delegate = delegate }

    nonisolated(nonsending) func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool {
        try await center.requestAuthorization(options: options)
    }

    nonisolated(nonsending) func deliveredNotifications() async -> [DeliveredNotification] {
        await center.deliveredNotifications().map { DeliveredNotification(request: $0.request, date: $0.date) }
    }

    nonisolated(nonsending) func add(_ request: UNNotificationRequest) async throws { try await center.add(request) }

    func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        center.removeDeliveredNotifications(withIdentifiers: identifiers)
    }

    func removeAllDeliveredNotifications() { center.removeAllDeliveredNotifications() }

    nonisolated(nonsending) func setBadgeCount(_ newBadgeCount: Int) async throws {
        try await center.setBadgeCount(newBadgeCount)
    }
}
