/// The record of one app on one device, saved in the server's folder.
package struct LocalDeviceRecord: Codable, Hashable, Sendable {
    package var name: String
    package var bundleID: String
    /// 64 lowercase hexadecimal digits.
    package var token: String
    /// Milliseconds since 1970.
    package var registered: Int64
    package var state = State.active
    /// The time at which the token became inactive, in milliseconds since 1970.
    package var since: Int64?

    package enum State: String, Codable, Sendable, CaseIterable {
        case active
        /// 410 `Unregistered`, until the device registers again.
        case unregistered
        /// 410 `ExpiredToken`; the device gets a new token when it registers again.
        case expired
        /// 400 `BadDeviceToken`; the device gets a new token when it registers again.
        case bad
    }
}
