package import SealedPush

/// The keys and tokens of a server, which can be replaced while it runs.
package struct ServerState: Sendable {
    /// The sender's keys, or `nil` while there is no key to seal with.
    var keys: SenderKeys?
    var senderSet: SenderSet?
    var tokens: BearerTokens?
    /// The tokens of programs that may only notify a user, or `nil` if there are none.
    var notifyTokens: NotifyTokens?

    /// Phones trust `senderSet`, which is `nil` if the app has no authority. `tokens` are the back end's tokens; they are
    /// `nil` only if no other user can reach its listener.
    package init(keys: SenderKeys, senderSet: SenderSet?, tokens: BearerTokens?, notifyTokens: NotifyTokens? = nil) {
        self.keys = keys
        self.senderSet = senderSet
        self.tokens = tokens
        self.notifyTokens = notifyTokens
    }

    /// - Throws: `no-sender`.
    func sender() throws(Problem) -> SenderKeys {
        guard let keys else { throw .noSender }
        return keys
    }
}
