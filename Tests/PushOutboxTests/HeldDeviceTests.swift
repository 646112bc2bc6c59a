import Foundation
import GRDB
import PushCore
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushPostgres

/// Tests an application's transaction that stays open and holds a device's row. It must delay only that device.
@Suite("A device whose row is held") struct HeldDeviceTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws { fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() } }

    /// The operations on a device that a caller waits for.
    enum Operation: String, CaseIterable {
        case enqueueToDevice, enqueueToUser, setAddress, registerAgain, registerWithOthers, remove, eraseUser

        func run(_ outbox: Outbox, _ name: String, _ fixture: Fixture) async throws {
            let (device, user) = (DeviceName(parsing: name)!, UserName(parsing: name)!)
            func registered(_ name: String) -> RegisteredDevice {
                RegisteredDevice(
                    name: DeviceName(parsing: name)!, user: UserName(parsing: name)!, topic: Fixture.topic,
                    keys: .unverified(DevicePrivateKey().recipient),
                    address: .active(Fixture.address(name), registered: fixture.now))
            }
            switch self {
            case .enqueueToDevice: try await fixture.enqueue(to: .device(device), in: outbox)
            case .enqueueToUser: try await fixture.enqueue(to: .user(user), in: outbox)
            case .setAddress: try await outbox.setAddress(Fixture.address(name), of: device, at: fixture.now)
            case .registerAgain: try await outbox.register(registered(name))
            case .registerWithOthers: try await outbox.register([registered("other"), registered(name)])
            case .remove: try await outbox.remove(device)
            case .eraseUser: _ = try await outbox.erase(user, topic: Fixture.topic) { _ in [] }
            }
        }
    }

    private func addPhones() async throws {
        for name in ["alice", "bob"] { try await fixture.addDevice(name, user: name) }
    }

    /// Another process that waits only briefly for a device.
    private func impatient() async throws -> Outbox {
        try await Outbox(
            postgres: database.address, clock: fixture.time.clock, patience: .seconds(300),
            rowPatience: .milliseconds(50))
    }

    /// Begins an application's transaction, and enqueues to these devices in it.
    private func hold(_ names: String...) async throws -> OpenTransaction {
        let transaction = OpenTransaction(
            try await PostgresConnection.open(PostgresAddress(parsing: database.address)))
        // On a busy machine, the test may hold it for longer than our own sessions may wait.
        try await transaction.run("SET idle_in_transaction_session_timeout = 0")
        try await transaction.run("BEGIN")
        for name in names {
            let recipient = try await fixture.recipient(DeviceName(parsing: name)!)
            let rows = try await transaction.run(
                """
                SELECT sealed_push.enqueue('\(name)', '\(recipient)', '\(Fixture.sealedText)', \
                '\(UUID().uuidString.lowercased())', 'c', sender => 'anonymous')
                """)
            try #require(rows.first?.first == "enqueued")
        }
        return transaction
    }

    private struct OpenTransaction {
        let connection: PostgresConnection

        init(_ connection: PostgresConnection) { self.connection = connection }

        @discardableResult func run(_ statement: String) async throws -> [[String?]] {
            try await connection.run { connection throws(OutboxError) in try connection.script(statement) }
        }
    }

    // MARK: One device

    @Test(
        "many calls for a held device use one connection at most, others are answered meanwhile, and all succeed after it",
        arguments: [Operation.enqueueToDevice, .enqueueToUser, .setAddress])
    func others(operation: Operation) async throws {
        try await addPhones()
        let transaction = try await hold("alice")
        let (outbox, fixture, doneCount) = (try await fixture.reopened(), fixture, Locked(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    try await operation.run(outbox, "alice", fixture)
                    doneCount.withLock { $0 += 1 }
                }
            }
            try await eventually("one of them tries") { try await fixture.number(Self.waitingCount) == 1 }
            for _ in 0..<20 { try await operation.run(outbox, "bob", fixture) }
            try await outbox.requireWritable()
            var most: Int64 = 0
            for _ in 0..<200 {
                most = max(most, try await fixture.number(Self.waitingCount) ?? 0)
                try await Task.sleep(for: .milliseconds(1))
            }
            #expect(most <= 1)
            #expect(doneCount.withLock { $0 } == 0)
            try await transaction.run("COMMIT")
            try await group.waitForAll()
        }
        let isEnqueued = operation != .setAddress
        #expect(try await fixture.outbox.status().waitingCount == (isEnqueued ? 12 + 20 + 1 : 1))
    }

    @Test(
        "a call for a device that stays held fails with a typed error, and succeeds afterward",
        arguments: Operation.allCases)
    func typed(operation: Operation) async throws {
        try await addPhones()
        let (transaction, outbox) = (try await hold("alice"), try await impatient())
        for _ in 0..<3 {
            await #expect(throws: OutboxError.deviceBusy) { try await operation.run(outbox, "alice", fixture) }
        }
        if operation != .registerWithOthers { try await operation.run(outbox, "bob", fixture) }
        try await outbox.requireWritable()
        try await transaction.run("COMMIT")
        try await eventually("it succeeds") {
            do {
                try await operation.run(outbox, "alice", fixture)
                return true
            } catch OutboxError.deviceBusy { return false }
        }
    }

    @Test(
        "while a file is held, each operation fails with a typed error, and succeeds afterward",
        arguments: Operation.allCases)
    func file(operation: Operation) async throws {
        let fixture = try await Fixture()
        for name in ["alice", "bob"] { try await fixture.addDevice(name, user: name) }
        let outbox = try Outbox(at: fixture.path, clock: fixture.time.clock, busyLimit: 0.02)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: fixture.path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        for name in ["alice", "bob"] {
            await #expect(throws: OutboxError.busy) { try await operation.run(outbox, name, fixture) }
        }
        await #expect(throws: OutboxError.busy) { try await outbox.requireWritable() }
        #expect(try await outbox.devices().count == 2)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await operation.run(outbox, "alice", fixture)
    }

    @Test("once a call has given up, those waiting give up, too, and later ones make one attempt each at intervals")
    func turns() async throws {
        let start = ContinuousClock.now
        let (time, attemptCount) = (Locked(start), Locked(0))
        let turns = RowTurns(patience: .seconds(2)) { time.withLock { $0 } }
        @Sendable func fail(after wait: @Sendable () async -> Void = {}) async -> (OutboxError?, Duration) {
            let end = Locked(start)
            do throws(OutboxError) {
                try await turns.run("alice") { until throws(OutboxError) -> Void in
                    attemptCount.withLock { $0 += 1 }
                    end.withLock { $0 = until }
                    await wait()
                    throw OutboxError.deviceBusy
                }
                return (nil, .zero)
            } catch { return (error, end.withLock { $0 } - time.withLock { $0 }) }
        }
        let gate = Gate(width: 1)
        await gate.enter()
        let first = Task { await fail { await gate.enter() } }
        try await eventually("it has its turn") { attemptCount.withLock { $0 } == 1 }
        let others = (0..<5).map { _ in Task { await fail() } }
        // Another device isn't affected.
        #expect(try await turns.run("bob") { _ throws(OutboxError) in 1 } == 1)
        gate.leave()
        var (error, patience) = await first.value
        #expect(error == .deviceBusy && patience == .seconds(2))
        for other in others { #expect(await other.value.0 == .deviceBusy) }
        #expect(attemptCount.withLock { $0 } == 1)
        time.withLock { $0 += .milliseconds(300) }
        (error, patience) = await fail()
        #expect(error == .deviceBusy && patience == .zero)
        #expect(await fail().0 == .deviceBusy)
        #expect(attemptCount.withLock { $0 } == 2)
        time.withLock { $0 += .milliseconds(300) }
        #expect(try await turns.run("alice") { _ throws(OutboxError) in 1 } == 1)
        (error, patience) = await fail()
        #expect(error == .deviceBusy && patience == .seconds(2))
    }

    // MARK: Many devices

    @Test(
        "a message to everyone reaches every device that isn't held, and the held ones when it's repeated",
        arguments: [[0], [2], [4], [1, 2], [0, 4], [0, 1, 2, 3, 4]])
    func everyone(held: [Int]) async throws {
        for number in 0..<5 { try await fixture.addDevice("d\(number)") }
        let outbox = try await impatient()
        var transactions: [OpenTransaction] = []
        for number in held { transactions.append(try await hold("d\(number)")) }
        await #expect(throws: OutboxError.deviceBusy) {
            try await fixture.enqueue(to: .everyone, key: "lunch", in: outbox)
        }
        #expect(try await fixture.outbox.status().waitingCount == 5 - held.count)
        for transaction in transactions { try await transaction.run("ROLLBACK") }
        let report = try await fixture.enqueue(to: .everyone, key: "lunch", in: outbox)
        #expect(report.enqueuedCount == held.count && report.alreadyEnqueuedCount == 5 - held.count)
        #expect(try await fixture.number("SELECT count(DISTINCT device) FROM entries") == 5)
        #expect(try await fixture.number("SELECT count(*) FROM entries") == 5)
        #expect(try await fixture.number("SELECT count(*) FROM ranges") == 0)
        #expect(try await fixture.outbox.report(on: report.id)?.enqueuedCount == 5)
    }

    @Test("an address that is gone is settled later if its device is held, and other outcomes at once") func settled()
        async throws
    {
        try await addPhones()
        for name: DeviceName in ["alice", "bob"] { try await fixture.enqueue(to: .device(name)) }
        let leases = try await fixture.outbox.take(1, count: 2)
        try #require(leases.count == 2)
        let transaction = try await hold("alice")
        let answer = try await fixture.outbox.store.settle(
            LeaseExchange(
                settled: leases.map { lease in
                    lease.request.address == Fixture.address("alice")
                        ? (
                            lease,
                            .addressGone(
                                reason: "Unregistered", since: fixture.now.advanced(bySeconds: 60), otherwise: .zero)
                        )
                        : (lease, .accepted)
                }))
        #expect(answer.unsettled.map(\.lease.request.address) == [Fixture.address("alice")])
        #expect(try await fixture.outbox.status().outcomes == ["accepted": 1])
        try await transaction.run("COMMIT")
        let again = try await fixture.outbox.store.settle(LeaseExchange(settled: answer.unsettled))
        #expect(again.unsettled.isEmpty)
        #expect(try await fixture.outbox.status().outcomes == ["accepted": 1, "dropped:Unregistered": 2])
    }

    @Test("refused and deferred pushes of free devices are retried although one device is held") func retried()
        async throws
    {
        try await addPhones()
        for name: DeviceName in ["alice", "bob"] { try await fixture.enqueue(to: .device(name)) }
        try await fixture.deliver(ScriptedTransport(refusing: 400, "BadDeviceToken"))
        let outbox = try await impatient()
        let lock = "BEGIN; SELECT 1 FROM sealed_push.devices WHERE name = 'alice' FOR UPDATE"
        let connection = try await PostgresConnection.open(PostgresAddress(parsing: database.address))
        let transaction = OpenTransaction(connection)
        try await transaction.run(lock)
        await #expect(throws: OutboxError.deviceBusy) { try await outbox.retry() }
        #expect(try await fixture.outbox.status().waitingCount == 1)
        try await transaction.run("ROLLBACK")
        #expect(try await outbox.retry() == 1)

        try await fixture.deliver(ScriptedTransport(refusing: 503, "ServiceUnavailable"))
        try await transaction.run(
            """
            BEGIN; SELECT 1 FROM sealed_push.queues
            WHERE device = (SELECT id FROM sealed_push.devices WHERE name = 'alice') FOR UPDATE
            """)
        await #expect(throws: OutboxError.deviceBusy) { try await outbox.retryNow() }
        #expect(try await fixture.deliver().acceptedCount == 1)
        try await transaction.run("ROLLBACK")
        #expect(try await outbox.retryNow() == 1)
        #expect(try await fixture.deliver().acceptedCount == 1)
    }

    // MARK: Readiness

    @Test("an outbox isn't ready while none of its connections is free, and is ready again afterward") func readiness()
        async throws
    {
        let outbox = try await fixture.reopened()
        let pool = try #require(outbox.store as? PostgresStore).pool
        let connection = try await PostgresConnection.open(PostgresAddress(parsing: database.address))
        let transaction = OpenTransaction(connection)
        try await transaction.run("SELECT pg_advisory_lock(1, 1)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<PostgresPool.maximumCount {
                group.addTask {
                    _ = try await pool.connected { db throws(OutboxError) in
                        try db.script("SELECT pg_advisory_lock_shared(1, 1); SELECT pg_advisory_unlock_all()")
                    }
                }
            }
            try await eventually("all are in use") {
                try await fixture.number(Self.waitingCount) == Int64(PostgresPool.maximumCount)
            }
            let error = try await #require(throws: OutboxError.self) { try await outbox.requireWritable() }
            guard case .unreachable(let words) = error else { throw error }
            #expect(words.contains("6 connections"), "\(words)")
            try await transaction.run("SELECT pg_advisory_unlock(1, 1)")
            try await group.waitForAll()
        }
        try await outbox.requireWritable()
    }

    /// The number of sessions that wait for a lock in this database.
    private static let waitingCount =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
}
