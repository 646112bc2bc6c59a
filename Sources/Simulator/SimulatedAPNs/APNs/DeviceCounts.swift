/// The current and past numbers of a local APNs's devices and notifications.
package struct DeviceCounts: Codable, Sendable {
    package var devices = 0
    package var online = 0
    /// Notifications that are stored, or were kept when a device went offline.
    package var waiting = 0
    package var unacknowledged = 0
    package var acknowledged = 0
    /// Notifications that expired, or were never stored.
    package var expired = 0
}
