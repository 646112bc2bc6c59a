import FuzzSupport
import PushSender

@testable import PushOutbox

/// Uses an outbox in every way, one after the other.
func useAll() async {
    guard let outbox = await answer({ () throws(OutboxError) in try Outbox(at: GoodFile.path, clock: GoodFile.clock) })
    else { return }
    await look(at: outbox)
    await lease(from: outbox)
    await change(outbox)
    await look(at: outbox)
}

private func look(at outbox: Outbox) async {
    if let status = await answer({ () throws(OutboxError) in try await outbox.status() }) {
        demand(status.waitingCount >= 0, "the waiting count is negative")
    }
    _ = await answer { () throws(OutboxError) in try await outbox.deadLetters() }
    _ = await answer { () throws(OutboxError) in try await outbox.deadLetters(reason: "reason", offset: 1) }
    _ = await answer { () throws(OutboxError) in try await outbox.store.timeUntilDue(by: .apns()) }
    if let report = await answer({ () throws(OutboxError) in try await outbox.receipts(days: 60) }) {
        _ = (report.total.failedCount, report.total.refusedCount)
    }
    _ = await answer { () throws(OutboxError) in try await outbox.receipts(of: GoodFile.receipt.id) }
    _ = await answer { () throws(OutboxError) in try await outbox.devices() }
    _ = await answer { () throws(OutboxError) in try await outbox.devices(of: "nina") }
    for name in GoodFile.names { _ = await answer { () throws(OutboxError) in try await outbox.device(name) } }
}

private func lease(from outbox: Outbox) async {
    for round in 0..<2 {
        for environment in PushEnvironment.allCases {
            let order = LeaseOrder(
                carrier: .apns(environment), count: 8, considerateCount: 2, duration: .seconds(60),
                firstNumber: Int64(round * 100))
            let taking = LeaseExchange(order: order)
            let taken = await answer { () throws(OutboxError) in try await outbox.store.settle(taking) }
            let leases = taken?.leases ?? []
            for lease in leases {
                demand(lease.request.body.count <= 4_096 && lease.request.apnsID.utf8.count == 36, "an invalid lease")
                demand(
                    (1...64).contains(lease.request.collapseID.utf8.count) && lease.attempts > 0, "an invalid lease")
            }
            let settled = leases.enumerated().map { ($1, settlements[($0 + round) % settlements.count]) }
            let exchange = LeaseExchange(settled: settled)
            _ = await answer { () throws(OutboxError) in try await outbox.store.settle(exchange) }
        }
    }
}

private func change(_ outbox: Outbox) async {
    _ = await answer { () throws(OutboxError) in try await outbox.retry() }
    _ = await answer { () throws(OutboxError) in try await outbox.retryNow() }
    _ = await answer { () throws(OutboxError) in try await outbox.count([GoodFile.receipt], refused: [.clock: 1]) }
    for device in GoodFile.devices { _ = await answer { () throws(OutboxError) in try await outbox.register(device) } }
    _ = await answer { () throws(OutboxError) in
        try await outbox.setAddress(GoodFile.address(7, .sandbox), of: "phone", at: GoodFile.now)
    }
    _ = await answer { () throws(OutboxError) in
        try await outbox.enqueue(
            OutgoingMessage(Content(body: "again"), key: IdempotencyKey("key")), to: .everyone, from: GoodFile.sealer,
            includingUnverified: true)
    }
    _ = await answer { () throws(OutboxError) in try await outbox.purge(.expired) }
    _ = await answer { () throws(OutboxError) in try await outbox.purge(.deadLetters(reason: nil)) }
    _ = await answer { () throws(OutboxError) in try await outbox.remove("watch") }
}

/// Returns nil if it throws; checks that the error has a text.
func answer<Answer>(_ call: () async throws(OutboxError) -> Answer) async -> Answer? {
    do throws(OutboxError) {
        return try await call()
    } catch {
        demand(!error.description.isEmpty, "an error has no text")
        return nil
    }
}

private let settlements: [Settlement] = [
    .accepted, .later(.seconds(10)), .returned, .refused(reason: "reason"), .addressRefused(reason: "BadDeviceToken"),
    .addressGone(reason: "Unregistered", since: GoodFile.now, otherwise: .seconds(1)),
]
