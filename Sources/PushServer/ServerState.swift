package import PushSender
package import SealedPush

/// What a server works with, and what may be replaced while it runs: after a rotation of keys or tokens, say.
package struct ServerState: Sendable {
    /// Nil while there is no key to seal with.
    var keys: Keys?
    var senderSet: SenderSet?
    var tokens: BearerTokens?

    /// What follows from the sender's key.
    struct Keys: Sendable {
        let sender: SenderKey
        let sealer: Sealer
        let logins: LoginTokens
        let challenges: ChallengeStates

        init(sender: SenderKey, sealer: Sealer) {
            self.sender = sender
            self.sealer = sealer
            logins = LoginTokens(of: sender)
            challenges = ChallengeStates(of: sender)
        }
    }

    /// - Parameters:
    ///   - sender: who asks phones to prove their keys; the sealer's own.
    ///   - senderSet: what phones are to believe; nil where the app has no authority.
    ///   - tokens: for the back end's paths; nil only where nobody else can reach the server.
    package init(sender: SenderKey, sealer: Sealer, senderSet: SenderSet?, tokens: BearerTokens?) {
        keys = Keys(sender: sender, sealer: sealer)
        self.senderSet = senderSet
        self.tokens = tokens
    }

    /// - Throws: `no-sender`.
    func sender() throws(Problem) -> Keys {
        guard let keys else { throw .noSender }
        return keys
    }
}
