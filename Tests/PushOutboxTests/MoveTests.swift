import GRDB
import PushOutbox
import PushPostgres
import SealedPush
import TestPrograms
import TestSupport
import TestThreads
import Testing

@testable import PushSender

/// From a file into PostgreSQL.
@Suite("An outbox that is moved")
struct MoveTests {
    private let fixture: Fixture
    private let database: PostgresServer.Database
    private let identities = (0..<4).map { _ in Identity() }

    init() async throws {
        fixture = try await Fixture()
        database = try await PostgresServer.shared.value.database()
    }

    /// Something in every table: devices of both kinds, one without an address; what waits, was put off and refused; counts.
    private func fill() async throws {
        for (number, identity) in identities.enumerated() {
            try await fixture.addDevice("d\(number)", user: "user-\(number % 2)", identity: identity)
        }
        let enrolment = EnrolmentKey()
        let record = try DeviceRecord(
            of: [Identity().recipient], topic: Fixture.topic, counter: 1, created: fixture.now,
            expires: fixture.now.advanced(bySeconds: 86_400), signedBy: enrolment)
        try await fixture.outbox.register(
            RegisteredDevice(
                name: "enrolled", user: "anna", topic: Fixture.topic,
                keys: .enrolled(try EnrolledDevice(pinning: record, topic: Fixture.topic, at: fixture.now)),
                address: .none(.apns(.sandbox), reason: nil)))
        try await fixture.enqueue("first", to: .everyone, key: "first")
        let refusing = ScriptedTransport { request, _ in
            switch request.address {
            case Fixture.address("d0"): .success(.apns(400, "PayloadTooLarge"))
            case Fixture.address("d1"): .success(.accepted(uniqueID: nil))
            default: .failure(.unreachable("away"))
            }
        }
        try await fixture.deliver(refusing)
        try await fixture.enqueue("second", to: .user("user-1"), priority: .considerate, key: "second")
        // Is begun, and not stored.
        await #expect(throws: OutboxError.self) {
            try await fixture.enqueue(String(repeating: "x", count: 5_000), to: .everyone, key: "begun")
        }
        let receipt = ShownReceipt(
            ReceiptBody(
                id: ReceiptID(Array(repeating: 1, count: 16)), number: Array(repeating: 2, count: 16),
                created: fixture.now, elapsedMilliseconds: 300, counts: (0..<25).map { UInt16($0) }))
        try await fixture.outbox.count([receipt], refused: [.rejected: 1])
    }

    private func move(_ pageCount: Int = 1_000) async throws -> OutboxMove {
        var move = try await OutboxMove(from: fixture.path, toPostgres: database.address)
        move.pageCount = pageCount
        return move
    }

    private func target() async throws -> Outbox {
        try await Outbox(postgres: database.address, clock: fixture.time.clock, patience: .seconds(300))
    }

    private static func counts(_ status: OutboxStatus) -> OutboxStatus {
        var status = status
        status.fileByteCount = 0
        return status
    }

    /// Everything that waits goes out once, and what was asked for before is known.
    private func expectWhole(_ outbox: Outbox, _ before: OutboxStatus) async throws {
        #expect(Self.counts(try await outbox.status()) == Self.counts(before))
        let again = try await outbox.enqueue(
            Content(body: "first"), to: .everyone, from: fixture.sealer, includingUnverified: true,
            key: IdempotencyKey("first"))
        #expect(again.enqueuedCount == 0)
        let begun = try await outbox.enqueue(
            Content(body: "begun"), to: .everyone, from: fixture.sealer, includingUnverified: true,
            key: IdempotencyKey("begun"))
        #expect(begun.enqueuedCount == 4)
        try await outbox.enqueue(
            Content(body: "third"), to: .device("d3"), from: fixture.sealer, includingUnverified: true)
        #expect(try await outbox.retry() == 1)
        let transport = ScriptedTransport()
        let courier = Courier(for: outbox, through: transport, limits: Fixture.limits())
        let report = try await courier.run(until: .empty)
        #expect(report.dead.isEmpty)
        let bodies = try transport.delivered.all.map { request in
            let number = try #require((0..<4).first { request.address == Fixture.address("d\($0)") })
            return "\(number) \(try fixture.body(of: request, for: identities[number]) ?? "")"
        }
        #expect(
            bodies.sorted() == [
                "0 begun", "0 first", "1 begun", "1 second", "2 begun", "2 first", "3 begun", "3 first", "3 second",
                "3 third",
            ])
    }

    @Test("has every row, and delivers each push once; the file can't be used from the beginning on")
    func whole() async throws {
        try await fill()
        let before = try await fixture.outbox.status()
        let counts = try await move().run()
        #expect(counts.first { $0.table == "devices" }?.rowCount == 5)
        #expect(counts.allSatisfy { $0.rowCount > 0 || $0.table == "protection" })
        #expect(throws: OutboxError.moved(to: database.address)) { try Outbox(at: fixture.path) }
        // Whoever had it open before.
        await #expect(throws: OutboxError.self) { try await fixture.enqueue("late", to: .everyone) }
        await #expect(throws: CourierError.self) { try await fixture.deliver(ScriptedTransport()) }
        try await expectWhole(target(), before)
        #expect(try await move().run().isEmpty, "a second time, there is nothing to do")
    }

    @Test("goes on where it was stopped, wherever that was")
    func stopped() async throws {
        try await fill()
        let before = try await fixture.outbox.status()
        var random = SeededGenerator()
        var stopCount = 0
        while true {
            var stepCount = Int.random(in: 1...12, using: &random)
            do throws(OutboxError) {
                var move = try await OutboxMove(from: fixture.path, toPostgres: database.address)
                move.pageCount = 1
                _ = try await move.run { _, _ throws(OutboxError) in
                    stepCount -= 1
                    if stepCount == 0 { throw .diskFull }
                }
                break
            } catch {
                guard error == .diskFull else { throw error }
                // To compare everything takes some steps at once, however often it was stopped before.
                stopCount += 1
                if stopCount == 20 { break }
                await #expect(throws: OutboxError.moving) { try await target() }
            }
        }
        _ = try await move().run()
        try await expectWhole(target(), before)
    }

    @Test("given up in the middle, it is as it was, and can be moved again")
    func cancelled() async throws {
        try await fill()
        let before = try await fixture.outbox.status()
        await #expect(throws: OutboxError.busy) {
            try await move(1).run { table, _ throws(OutboxError) in if table == "entries" { throw .busy } }
        }
        let elsewhere = try await PostgresServer.shared.value.database()
        await #expect(throws: OutboxError.moved(to: database.address)) {
            _ = try await OutboxMove(from: fixture.path, toPostgres: elsewhere.address)
        }
        #expect(try await move().cancel())
        #expect(Self.counts(try await fixture.reopened().status()) == Self.counts(before))
        #expect(try await target().status().deviceCount == 0)
        _ = try await move().run()
        try await expectWhole(target(), before)
        #expect(try await !move().cancel(), "what is complete is not given up")
    }

    @Test("by the command, with figures; the second time it says so", .blocking)
    func command() async throws {
        try await fill()
        let words = ["outbox", "move", fixture.path, "--outbox", database.address, "--yes"]
        let moved = try Program("sealedpush").run(words + ["--json"])
        let figures = try #require(moved.objects.first as? [String: Int])
        #expect(moved.status == 0 && figures == ["devices": 5, "waiting": 4, "refused": 1, "keys": 3], "\(moved)")
        #expect(try Program("sealedpush").run(words).output.contains("was moved already"))
        #expect(try Program("sealedpush").run(words + ["--cancel"]).status == 65)
        let old = try Program("sealedpush").run(["outbox", "status", "--outbox", fixture.path])
        #expect(old.status == 65 && old.errors.contains("was moved to \(database.address)"), "\(old)")
        #expect(try Program("sealedpush").run(["outbox", "move", fixture.path, "--outbox", "a.db"]).status == 64)
    }

    @Test("is not moved to where there is one")
    func used() async throws {
        try await fill()
        let other = try await target()
        try await other.register(
            RegisteredDevice(
                name: "phone", user: "anna", topic: Fixture.topic, keys: .unverified(Identity().recipient),
                address: .none(.apns(), reason: nil)))
        await #expect(throws: OutboxError.notEmpty) { _ = try await move() }
        #expect(try await fixture.reopened().status().deviceCount == 5)
    }

    @Test("a row that is not as it should be is found, and nothing is handed over", arguments: ["code", "body", "due"])
    func altered(column: String) async throws {
        try await fill()
        await #expect(throws: OutboxError.busy) {
            try await move().run { table, _ throws(OutboxError) in if table == "requests" { throw .busy } }
        }
        try await database.run(
            column == "due" ? "UPDATE queues SET due = due + 1" : "UPDATE entries SET \(column) = '\\x00'")
        await #expect(throws: OutboxError.damaged) { try await move().run() }
        await #expect(throws: OutboxError.moving) { try await target() }
    }

    @Test("no column is forgotten, on either side")
    func columns() async throws {
        _ = try await target()
        let left: Set = ["queues.generation", "queues.holder", "queues.lease"]
        for table in MovedTable.all {
            let there = try await database.run(
                """
                SELECT column_name FROM information_schema.columns
                WHERE table_schema = 'sealed_push' AND table_name = '\(table.name)'
                """
            ).compactMap { $0.first ?? nil }
            let names = Set(table.columns.map(\.name))
            #expect(Set(there).subtracting(names).allSatisfy { left.contains("\(table.name).\($0)") }, "\(table.name)")
            let here = try await DatabaseQueue(path: fixture.path).read { db in
                try db.columns(in: table.name).map {
                    ["user": "user_name", "environment": "carrier"][$0.name] ?? $0.name
                }
            }
            #expect(Set(here).subtracting(names).allSatisfy { left.contains("\(table.name).\($0)") }, "\(table.name)")
        }
        let tables = try await DatabaseQueue(path: fixture.path).read { db in
            try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        }
        #expect(Set(tables) == Set(MovedTable.all.map(\.name) + ["carriers"]))
    }
}
