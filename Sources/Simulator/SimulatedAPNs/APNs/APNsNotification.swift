package import Foundation

/// A notification that passed every check, on its way to a device.
package struct APNsNotification: Codable, Hashable, Sendable {
    package var apnsID: String
    package var pushType: PushType
    package var priority: Int
    /// The expiration, in seconds since 1970. Nil: as long as APNs stores notifications. 0: a single attempt.
    package var expiration: Int64?
    package var collapseID: String?
    package var payload: Data
    /// Milliseconds since 1970.
    package var received: Int64

    /// The value of `UNNotificationRequest.identifier` on the device. Source: Apple, that property's page.
    package var identifier: String { collapseID ?? apnsID }

    /// Whether APNs stores it for an offline device, at this time in seconds since 1970.
    func isStored(at now: Int64) -> Bool {
        let longest = received / 1_000 + Self.storageTime
        return min(expiration ?? longest, longest) > now
    }

    /// 30 days, in seconds.
    private static let storageTime: Int64 = 30 * 86_400
}
