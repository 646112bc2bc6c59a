/// How long one HPKE context is used, and how many are held. Source: Specification 3.5.
public struct ContextLimits: Hashable, Sendable {
    /// Messages under one context: 1 to 1,024. Use 1 on machines that are cloned or snapshotted while they run.
    public let messageCount: Int
    /// How long a context lives, on a clock that counts sleep: at most one hour.
    public let lifetime: Duration
    /// How many are held at once; the oldest makes room for a new one. One takes about 400 bytes.
    public let heldCount: Int

    public init(messageCount: Int = 1_024, lifetime: Duration = .seconds(3_600), heldCount: Int = 10_000) {
        precondition((1...1_024).contains(messageCount), "a context seals 1 to 1,024 messages")
        precondition(lifetime > .zero && lifetime <= .seconds(3_600), "a context lives at most one hour")
        precondition(heldCount >= 0, "the number of held contexts is not negative")
        self.messageCount = messageCount
        self.lifetime = lifetime
        self.heldCount = heldCount
    }

    /// Each message under a context of its own, and none held.
    public static let perMessage = ContextLimits(messageCount: 1, heldCount: 0)
}
