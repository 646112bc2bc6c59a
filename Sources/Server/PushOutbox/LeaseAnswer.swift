package struct LeaseAnswer: Sendable {
    package var leases: [Lease] = []
    /// The outcomes to submit again soon, because another process is enqueueing to these devices right now.
    package var unsettled: [SettledLease] = []

    package init() {}
}
