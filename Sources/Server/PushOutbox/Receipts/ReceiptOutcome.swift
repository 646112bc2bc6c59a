/// The outcome of counting a receipt in an outbox.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ReceiptOutcome: Hashable, Sendable {
    /// The receipt was counted now; it won't be counted again.
    case counted
    /// A receipt for the same message was counted before. Send the same response as for a counted one.
    case repeated
    /// Not counted: the device reached ``ReceiptDevice/maximumPerDay`` today. Respond with 429; it retries another day.
    case tooMany
}
