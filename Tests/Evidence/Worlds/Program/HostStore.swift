import PushCore
import PushOutbox
import PushSender
import SealedPush
import TestPrograms

/// A server's way to the database: it can fail, be slow, and end with the server's process, while the rows stay.
final class HostStore: OutboxStore {
    private let inner: MemoryStore
    private let world: World
    private let host: Host
    let clock: OutboxClock

    init(_ inner: MemoryStore, _ host: Host, in world: World) {
        (self.inner, self.host, self.world, clock) = (inner, host, world, inner.clock)
    }

    /// Runs one transaction. A process that dies in it doesn't learn whether it was stored.
    private func call<Answer>(
        _ body: () throws(OutboxError) -> Answer
    ) async throws(OutboxError) -> Answer {
        await Task.yield()
        if host.isDead { throw .unreachable("dead") }
        let fails = world.takeStoreFault()
        if fails, world.chance(50) { throw .busy }
        let answer = try Stopwatch.measure(.rows, body)
        await Task.yield()
        if fails || host.isDead { throw .unreachable("no answer") }
        return answer
    }

    func register(_ changes: [DeviceChange]) async throws(OutboxError) -> [RegistrationChange] {
        try await call { () throws(OutboxError) in
            let done = try inner.register(changes)
            for change in done { world.oracle.discarded(change.discardedCount) }
            return done
        }
    }
    func requireRegistering() async throws(OutboxError) {}
    func remove(_ device: FoundDevice, if condition: @escaping DeviceCondition) async throws(OutboxError) -> Int? {
        try await call { () throws(OutboxError) in
            let count = try inner.remove(device, if: condition)
            world.oracle.discarded(count ?? 0)
            return count
        }
    }
    func devices(_ selection: DeviceSelection) async throws(OutboxError) -> [FoundDevice] {
        try await call { () throws(OutboxError) in try inner.devices(selection) }
    }
    func forget(audiences: [String], receipts: [ReceiptID]) async throws(OutboxError) {
        try await call { () throws(OutboxError) in try inner.forget(audiences: audiences, receipts: receipts) }
    }
    func endLogins(of user: UserName, at moment: Int64) async throws(OutboxError) {
        try await call { () throws(OutboxError) in try inner.endLogins(of: user, at: moment) }
    }
    func loginsEnded(for user: UserName) async throws(OutboxError) -> Int64? {
        try await call { () throws(OutboxError) in inner.loginsEnded(for: user) }
    }
    func candidates(for order: EnqueueOrder) async throws(OutboxError) -> EnqueueBatch {
        try await call { () throws(OutboxError) in try inner.candidates(for: order) }
    }
    func enqueue(
        _ sealed: [EnqueueBatch.Sealed], of batch: EnqueueBatch, _ order: EnqueueOrder
    ) async throws(OutboxError) -> Bool {
        let isStored = try await call { () throws(OutboxError) in
            let isStored = try inner.enqueue(sealed, of: batch, order)
            if isStored { Stopwatch.measure(.oracle) { world.oracle.stored(sealed, order) } }
            return isStored
        }
        if isStored { world.wakeCouriers() }
        return isStored
    }
    func outcomes(of message: MessageID) async throws(OutboxError) -> [MessageOutcome] {
        try await call { () throws(OutboxError) in inner.outcomes(of: message) }
    }
    func settle(_ exchange: LeaseExchange) async throws(OutboxError) -> LeaseAnswer {
        try await call { () throws(OutboxError) in
            let answer = try inner.settle(exchange)
            for lease in answer.leases { world.oracle.leased(lease.request) }
            return answer
        }
    }
    func hasProvenAddress(of carrier: Carrier) async throws(OutboxError) -> Bool {
        try await call { () throws(OutboxError) in inner.hasProvenAddress(of: carrier) }
    }
    func timeUntilDue(by carrier: Carrier) async throws(OutboxError) -> Duration? {
        try await call { () throws(OutboxError) in inner.timeUntilDue(by: carrier) }
    }
    /// Sleeps until a push is due or another is enqueued, so that an idle courier takes no time of the world's.
    func rest(for duration: Duration, by carrier: Carrier) async {
        let due = inner.timeUntilDue(by: carrier)
        await world.sleepUntilWoken(host.isDead ? duration : max(duration, due ?? .seconds(86_400)))
    }
    func requeue(_ requeuing: Requeuing, limit: Int) async throws(OutboxError) -> Int {
        let count = try await call { () throws(OutboxError) in try inner.requeue(requeuing, limit: limit) }
        world.wakeCouriers()
        return count
    }
    func retryNow() async throws(OutboxError) -> Int {
        let count = try await call { () throws(OutboxError) in try inner.retryNow() }
        world.wakeCouriers()
        return count
    }
    func removeRecords() async throws(OutboxError) -> Int64? {
        try await call { () throws(OutboxError) in
            Stopwatch.measure(.oracle) { world.oracle.checkOldest { inner.outcomes(of: $0) } }
            return try inner.removeRecords()
        }
    }
    func removeDeadLetters(_ condition: PushCondition, limit: Int) async throws(OutboxError) -> Int {
        try await call { () throws(OutboxError) in try inner.removeDeadLetters(condition, limit: limit) }
    }
    func removeEntries(_ condition: PushCondition, outcome: String, limit: Int) async throws(OutboxError) -> Int {
        try await call { () throws(OutboxError) in
            guard case .sealed(let sender) = condition else {
                return try inner.removeEntries(condition, outcome: outcome, limit: limit)
            }
            world.oracle.purges(sealedBy: sender) { inner.outcomes(of: $0) }
            let count = try inner.removeEntries(condition, outcome: outcome, limit: limit)
            world.oracle.purged(count)
            return count
        }
    }
    func status() async throws(OutboxError) -> OutboxStatus {
        try await call { () throws(OutboxError) in try inner.status() }
    }
    func deadLetters(_ condition: PushCondition, offset: Int, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        try await call { () throws(OutboxError) in
            try inner.deadLetters(condition, offset: offset, limit: limit)
        }
    }
    func requireWritable() async throws(OutboxError) {}
    func mark() async throws(OutboxError) -> [UInt8]? { try await call { () throws(OutboxError) in inner.mark() } }
    func setMark(_ mark: [UInt8]) async throws(OutboxError) {
        try await call { () throws(OutboxError) in try inner.setMark(mark) }
    }
    func count(
        _ receipts: [ShownReceipt], refused: [ReceiptError: Int]
    ) async throws(OutboxError) -> [ReceiptOutcome] {
        try await call { () throws(OutboxError) in try inner.count(receipts, refused: refused) }
    }
    func receipts(days: Int) async throws(OutboxError) -> ReceiptReport {
        try await call { () throws(OutboxError) in try inner.receipts(days: days) }
    }
    func receipts(of id: ReceiptID) async throws(OutboxError) -> ReceiptDevice? {
        try await call { () throws(OutboxError) in try inner.receipts(of: id) }
    }
}
