public import PushSender
public import SealedPush

/// A message to enqueue, before it is sealed for each device: its content, and how to send it.
public struct OutgoingMessage: Hashable, Sendable {
    /// The content; without an ID, it gets a random one.
    public var content: Content
    /// The value for `apns-priority`.
    public var priority: PushPriority
    /// The value for `apns-expiration`, the time until which the push is useful. `nil` uses the content's own. Expired pushes,
    /// and all pushes after 30 days, are dropped instead of sent.
    public var expiration: Timestamp?
    /// An idempotency key, which makes a repeated call harmless for 30 days. Strongly advised for broadcasts.
    public var key: IdempotencyKey?
    /// Whether the key alone identifies the message, so that a repeated call may have other content, which isn't sent.
    package var mayDifferUnderKey = false
    /// The treatment of content that doesn't fit into one push, or `nil` for the sealer's own.
    package var fit: FitPolicy?

    /// Creates a message; each parameter is the property of that name.
    public init(
        _ content: Content, priority: PushPriority = .immediate, expiration: Timestamp? = nil,
        key: IdempotencyKey? = nil
    ) {
        self.content = content
        self.priority = priority
        self.expiration = expiration
        self.key = key
    }
}
