/// How to react to a refusal, for logs and metrics.
package enum APNsAdvice: String, Hashable, Sendable, CaseIterable {
    /// The device's token is no longer valid. Drop the push, and the token (410: if it was registered before the timestamp).
    case drop
    /// The push itself is fine. Send it again later.
    case wait
    /// The push can't be delivered as it is, because the request is wrong.
    case change
    /// The provider's key, topic, or entitlements are wrong. Stop, and notify an operator.
    case fixKeys = "fix-keys"
    /// This version doesn't recognize the reason.
    case unknown
}
