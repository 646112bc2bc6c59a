/// The dead letters to requeue, and the addresses to use again.
package struct Requeuing: Hashable, Sendable {
    /// The only reason to include, or `nil` for every reason.
    let reason: String?
    /// Whether to wait for devices that other transactions hold, instead of leaving them out.
    package let isWaiting: Bool
}

extension Requeuing {
    /// The devices with dead letters whose address is used again. By retrying, the operator confirms that the reason why it
    /// was refused is gone.
    package var addresses: RowCondition {
        RowCondition([.token: .isPresent, .tokenRefusal: reason.map { .equals($0) } ?? .isPresent])
    }

    /// The dead letters that are requeued, if their device is then reachable.
    package func letters(at now: Int64) -> RowCondition {
        guard let reason else { return RowCondition([.sendUntil: .isAbove(now)]) }
        return RowCondition([.sendUntil: .isAbove(now), .reason: .equals(reason)])
    }
}
