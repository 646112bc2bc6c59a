@testable import PushOutbox

extension Outbox {
    /// What a courier does in one call, for tests that play one.
    func settle(
        _ settled: [(lease: Lease, settlement: Settlement)], extending extended: [Lease] = [],
        by duration: Duration = .zero, taking order: LeaseOrder?
    ) async throws(OutboxError) -> [Lease] {
        try await store.settle(LeaseExchange(settled: settled, extended: extended, by: duration, taking: order)).leases
    }

    /// Brings all of the log into the file itself.
    func checkpoint() async throws { try await (store as? SQLiteStore)?.checkpoint() }
}
