/// A refusal of Apple's, as it left Apple, and what it means for the push. The meanings are those of Apple's page "Handling
/// notification responses from APNs" and of Operations 9. They are written down here once more, so that a fault in the server's
/// own table is noticed.
struct AppleRefusal: Hashable {
    let status: Int
    let reason: String?
    /// Whether the answer says since when the token isn't valid.
    let hasTime: Bool

    enum Meaning: Hashable {
        /// The push is sent again until it expires. It never ends for such a reason.
        case temporary
        /// The token is invalid, and so is each push that waits for it. They are kept until the operator retries them.
        case addressRefused
        /// The app is no longer there. Everything that waits for it is dropped, if it didn't register again since.
        case gone
        /// Operations 9: the push is tried three times, then kept as refused.
        case unknown
    }

    /// The name of the reason in reports.
    var name: String { reason ?? "status \(status)" }

    var meaning: Meaning {
        switch (status, reason) {
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"): .addressRefused
        case (410, "Unregistered"), (410, "ExpiredToken"): hasTime ? .gone : .unknown
        case (429, _), (500...599, _): .temporary
        default: .unknown
        }
    }

    /// Operations 9.
    static let unknownAttempts = 3
}
