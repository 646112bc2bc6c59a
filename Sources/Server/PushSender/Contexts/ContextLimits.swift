/// Limits on how long an HPKE context is used and how many are held. Source: Specification 3.5.
public struct ContextLimits: Hashable, Sendable {
    /// The number of messages that one context seals: 1 to 1,024.
    public let messageCount: Int
    /// How long a context lives, on a clock that keeps running during sleep: at most one hour.
    public let lifetime: Duration
    /// The number of contexts held at once; a new one replaces the oldest. One takes about 400 bytes, or 1,600 if hybrid.
    package let heldCount: Int

    /// Creates limits. The program stops if a value is out of range.
    public init(messageCount: Int = 1_024, lifetime: Duration = .seconds(3_600), heldCount: Int = 10_000) {
        precondition((1...1_024).contains(messageCount), "a context must seal 1 to 1,024 messages")
        precondition(lifetime > .zero && lifetime <= .seconds(3_600), "a context must live at most one hour")
        precondition(heldCount >= 0, "the number of held contexts must not be negative")
        self.messageCount = messageCount
        self.lifetime = lifetime
        self.heldCount = heldCount
    }
}
