/// The outcomes that a courier submits and the leases that it requests, in one exchange.
package struct LeaseExchange: Sendable {
    package var settled: [SettledLease] = []
    /// The leases to hold for `hold` from now on.
    package var extended: [Lease] = []
    package var hold: Duration = .zero
    package var order: LeaseOrder?
}
