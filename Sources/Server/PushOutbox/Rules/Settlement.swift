import PushSender
package import SealedPush

/// The outcome of a lease.
package enum Settlement: Sendable, Equatable {
    case accepted
    /// The push is sent again after this time.
    case later(Duration)
    /// The push wasn't sent; this doesn't count as an attempt.
    case returned
    /// The push is kept as a dead letter.
    case refused(reason: String)
    /// The address has been gone since the given time. It is removed along with its waiting pushes and dead
    /// letters, unless it was registered again since then. If so, the entry is sent again after a delay.
    case addressGone(reason: String, since: Timestamp, otherwise: Duration)
    /// The address is refused. It is disabled, and its waiting pushes become dead letters.
    case addressRefused(reason: String)
}

extension Settlement {
    /// Whether the outcome is about the device's address, so that a store must look up when that was registered.
    package var concernsAddress: Bool {
        switch self {
        case .addressGone, .addressRefused: true
        case .accepted, .later, .returned, .refused: false
        }
    }

    /// Returns the outcome for the device as it is now. The response of a carrier may be about an address that the device no
    /// longer has, or has registered again since.
    ///
    /// - Parameter registered: When the lease's address was registered, in milliseconds since 1970. `nil` if the device has
    ///   another address now, or none, or a disabled one. Only used if ``concernsAddress``.
    package func resolved(registered: Int64?) -> Self {
        guard concernsAddress else { return self }
        guard let registered else { return .returned }
        // Both are truncated to whole seconds; the same second counts as registered since.
        if case .addressGone(_, let since, let delay) = self, registered / 1_000 >= since.secondsSince1970 {
            return .later(delay)
        }
        return self
    }

    /// Returns the changes that a store makes, in order. Another courier may hold the device's queue by now. Then its row
    /// stays as it is, and all other changes are still right.
    ///
    /// - Parameter registered: As for ``resolved(registered:)``.
    package func changes(to lease: Lease, registered: Int64? = nil) -> [LeaseChange] {
        switch resolved(registered: registered) {
        case .accepted:
            // An address is proven only once.
            (lease.request.isProven ? [] : [.prove]) + [.remove(outcome: Tally.accepted), .advance]
        case .later(let delay): [.release(after: delay, attempts: lease.attempts)]
        // The lease's own attempt doesn't count.
        case .returned: [.release(after: .zero, attempts: lease.attempts - 1)]
        case .refused(let reason): [.bury(reason: reason), .advance]
        case .addressGone(let reason, _, _):
            [.dropAddress(reason: reason), .discardAll(outcome: Tally.dropped(reason))]
        case .addressRefused(let reason):
            [.disableAddress(reason: reason), .bury(reason: reason), .buryAll(reason: reason)]
        }
    }
}
