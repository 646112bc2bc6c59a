internal import PushOutbox
package import PushSender
package import SealedPush

/// A sender's key, and the objects derived from it.
package struct SenderKeys: Sendable {
    let sender: SenderPrivateKey
    let sealer: Sealer
    let receipts: ReceiptReceiver
    let service: ServiceName
    let logins: AuthenticatedTexts
    /// Challenges in transit to phones and back: the data that the server needs to check the answer, bound to the device.
    let challenges: AuthenticatedTexts

    /// - Parameters:
    ///   - sender: The sender that asks phones to prove their keys; the same as the sealer's.
    ///   - receipts: Receives receipts for pushes that this sender's keys have sealed, including those of the last week.
    ///   - service: Distinguishes this service from others with the same topic; defaults to the topic.
    package init(sender: SenderPrivateKey, sealer: Sealer, receipts: ReceiptReceiver, service: ServiceName? = nil) {
        self.sender = sender
        self.sealer = sealer
        self.receipts = receipts
        let (topic, service) = (sealer.topic, service ?? ServiceName(of: sealer.topic))
        self.service = service
        logins = AuthenticatedTexts(of: sender, for: "sealedpush/v1 logins", of: topic, service: service)
        challenges = AuthenticatedTexts(of: sender, for: "sealedpush/v1 challenge states", of: topic, service: service)
    }

    /// Returns the login that an app presents for its account. The back end requests it within the account's login and
    /// passes it to the app. Every process of the service with the sender's key can create and check it. It is invalid
    /// elsewhere and after it expires. `issued` is the current time in milliseconds since 1970.
    func login(of user: UserName, until end: Timestamp, issued: Int64) -> String {
        logins.seal("pushlogin.\(end.secondsSince1970).\(issued).\(Base64URL.encode(Array(user.description.utf8)))")
    }

    /// Returns the login's user and issue time, or `nil` unless it is a login for this service that hasn't expired.
    func login(parsing login: some StringProtocol, at now: Timestamp) -> (user: UserName, issued: Int64)? {
        let parts = logins.open(login)?.split(separator: ".") ?? []
        guard parts.count == 4, let end = Int64(parts[1]), now.secondsSince1970 <= end, let issued = Int64(parts[2]),
            let name = Base64URL.decode(parts[3].utf8),
            let user = UserName(parsing: String(decoding: name, as: UTF8.self))
        else { return nil }
        return (user, issued)
    }
}
