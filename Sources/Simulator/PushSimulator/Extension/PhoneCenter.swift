import UserNotifications

/// The list of one phone's notifications.
final class PhoneCenter: Sendable {
    // Safe: all of a center's state is behind its lock.
    nonisolated(unsafe) let value = UNUserNotificationCenter()
}
