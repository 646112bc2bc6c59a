package import PushSender
package import SealedPush

/// The keys and tokens of a server, which may be replaced while it runs.
package struct ServerState: Sendable {
    /// nil while there is no key to seal with.
    var keys: Keys?
    var senderSet: SenderSet?
    var tokens: BearerTokens?

    /// What follows from the sender's key.
    struct Keys: Sendable {
        let sender: SenderPrivateKey
        let sealer: Sealer
        let logins: LoginTokens
        let challenges: ChallengeStates
        let receipts: ReceiptReceiver

        init(sender: SenderPrivateKey, sealer: Sealer, receipts: ReceiptReceiver) {
            self.sender = sender
            self.sealer = sealer
            self.receipts = receipts
            logins = LoginTokens(of: sender)
            challenges = ChallengeStates(of: sender)
        }
    }

    /// - Parameters:
    ///   - sender: who asks phones to prove their keys; the sealer's own.
    ///   - receipts: takes the receipts for what this sender's keys have sealed, also those of the last week.
    ///   - senderSet: what phones are to believe; nil if the app has no authority.
    ///   - tokens: for the back end; nil only if nobody else can reach its listener.
    package init(
        sender: SenderPrivateKey, sealer: Sealer, receipts: ReceiptReceiver, senderSet: SenderSet?,
        tokens: BearerTokens?
    ) {
        keys = Keys(sender: sender, sealer: sealer, receipts: receipts)
        self.senderSet = senderSet
        self.tokens = tokens
    }

    /// - Throws: `no-sender`.
    func sender() throws(Problem) -> Keys {
        guard let keys else { throw .noSender }
        return keys
    }
}
