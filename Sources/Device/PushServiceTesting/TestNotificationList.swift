import Foundation
internal import PushCore
internal import PushService
internal import UserNotifications

/// The notifications of a test device. `@unchecked`: the requests are only passed on, and nobody changes them.
final class TestNotificationList: NotificationList, @unchecked Sendable {
    private let lock = NSLock()
    private var delivered: [DeliveredNotification] = []
    private var lastBadge: Int?

    /// All of them, oldest first.
    var requests: [UNNotificationRequest] { lock.withLock { delivered.map(\.request) } }
    /// The number that was last set on the icon.
    var badge: Int { lock.withLock { lastBadge ?? 0 } }

    /// Adds a notification as the system does, in place of one with the same identifier. One without any text shows nothing.
    func show(_ request: UNNotificationRequest) {
        let content = request.content
        lock.withLock {
            delivered.removeAll { $0.request.identifier == request.identifier }
            if let badge = content.badge { lastBadge = badge.intValue }
            guard !(content.title.isEmpty && content.subtitle.isEmpty && content.body.isEmpty) else { return }
            delivered.append(DeliveredNotification(request: request, date: Date()))
        }
    }

    func report(to delegate: any UNUserNotificationCenterDelegate) {}

    nonisolated(nonsending) func requestAuthorization(options: UNAuthorizationOptions) async throws -> Bool { true }

    nonisolated(nonsending) func deliveredNotifications() async -> [DeliveredNotification] {
        lock.withLock { delivered }
    }

    nonisolated(nonsending) func add(_ request: UNNotificationRequest) async throws { show(request) }

    func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        lock.withLock { delivered.removeAll { identifiers.contains($0.request.identifier) } }
    }

    func removeAllDeliveredNotifications() { lock.withLock { delivered = [] } }

    nonisolated(nonsending) func setBadgeCount(_ newBadgeCount: Int) async throws {
        lock.withLock { lastBadge = newBadgeCount }
    }
}
