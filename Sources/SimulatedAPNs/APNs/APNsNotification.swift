/// A request that passed every check, on its way to a device.
package struct APNsNotification: Codable, Hashable, Sendable {
    package var apnsID: String
    package var pushType: PushType
    package var priority: Int
    /// Nil: for as long as APNs stores. 0: one attempt.
    package var expiration: Int64?
    package var collapseID: String?
    package var payload: [UInt8]
    /// Milliseconds since 1970.
    package var received: Int64

    /// What `UNNotificationRequest.identifier` will be. Source: Apple, that property's page.
    package var identifier: String { collapseID ?? apnsID }

    /// Seconds since 1970; nil where it is not stored.
    func storedUntil(storageTime: Int64) -> Int64? {
        let longest = received / 1_000 + storageTime
        guard let expiration else { return longest }
        return expiration == 0 ? nil : min(expiration, longest)
    }
}
