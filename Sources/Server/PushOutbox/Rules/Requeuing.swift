/// The dead letters to requeue, and the addresses to use again.
package struct Requeuing: Hashable, Sendable {
    /// The only reason to include, or `nil` for every reason.
    package let reason: String?
    /// Whether to wait for devices that other transactions hold, instead of leaving them out.
    package let isWaiting: Bool
}

extension Requeuing {
    /// Whether an address of a device with dead letters is used again. By retrying, the operator confirms that the reason why it
    /// was refused is gone.
    package func reenables(hasAddress: Bool, refusal: String?) -> Bool {
        guard hasAddress, let refusal else { return false }
        return reason == nil || refusal == reason
    }

    /// Whether a dead letter is requeued, to a device whose address is used.
    package func includes(reason: String, sendUntil: Int64, at now: Int64) -> Bool {
        sendUntil > now && (self.reason == nil || reason == self.reason)
    }
}
