import Foundation
import PushCore
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushPostgres

/// Tests behavior specific to PostgreSQL: other hosts, other languages, roles, and server outages.
@Suite("The outbox in PostgreSQL") struct PostgresTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws { fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() } }

    // MARK: Opening

    @Test("the schema is created once, however many processes start at once") func madeAtOnce() async throws {
        try await database.run("DROP SCHEMA sealed_push CASCADE")
        let address = database.address
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try await Outbox(postgres: address).status() } }
            try await group.waitForAll()
        }
        #expect(try await fixture.number("SELECT count(*) FROM meta") == 1)
    }

    @Test("no column can be looked up in two indexes, because statistics of an empty table would choose the wrong one")
    func indices() async throws {
        let pairs = try await database.run(
            """
            SELECT a.indexrelid::regclass::text || ' and ' || b.indexrelid::regclass::text
            FROM pg_index a JOIN pg_index b ON b.indrelid = a.indrelid AND b.indexrelid <> a.indexrelid
                JOIN pg_class c ON c.oid = a.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'sealed_push' AND b.indkey[0] <> 0 AND b.indkey[0] = ANY (a.indkey::smallint[])
            """)
        #expect(pairs.isEmpty, "\(pairs)")
        let count = try await fixture.number(
            "SELECT count(*) FROM pg_indexes WHERE schemaname = 'sealed_push' AND indexdef LIKE '%(id + 0)%'")
        #expect(count == 2)
    }

    @Test("another version's tables and another program's tables are refused") func otherSchemas() async throws {
        let address = database.address
        try await database.run("UPDATE meta SET version = 99")
        await #expect(throws: OutboxError.otherSchema) { try await Outbox(postgres: address) }
        try await database.run("ALTER TABLE meta RENAME TO theirs")
        await #expect(throws: OutboxError.foreign) { try await Outbox(postgres: address) }
        try await database.run(
            "ALTER TABLE theirs RENAME TO meta; UPDATE meta SET version = \(PostgresSchema.version.stored)")
        _ = try await Outbox(postgres: address)
    }

    @Test("a later version upgrades the tables, which this version then still uses, unless it must not")
    func laterSchema() async throws {
        let now = PostgresSchema.version.number
        let later = SchemaVersion(now + 1, oldest: now)
        let pool = try await PostgresStore(PostgresAddress(parsing: database.address), patience: .seconds(300)).pool
        try await pool.connected { connection throws(OutboxError) in
            try PostgresSchema.make(
                connection, later, by: [now: "ALTER TABLE sealed_push.devices ADD COLUMN note text"])
        }
        #expect(try await fixture.number("SELECT version FROM meta") == Int64(later.stored))
        _ = try await Outbox(postgres: database.address)
        try await fixture.addDevice("phone")
        #expect(try await fixture.number("SELECT count(*) FROM devices WHERE note IS NULL") == 1)
        try await database.run("UPDATE meta SET version = \(now + 1)")
        let address = database.address
        await #expect(throws: OutboxError.otherSchema) { try await Outbox(postgres: address) }
        // Later tests use this database, too.
        try await database.run("ALTER TABLE devices DROP COLUMN note; UPDATE meta SET version = \(now)")
    }

    @Test("an address with a password, or an invalid address, is refused") func addresses() async throws {
        for text in [
            "postgres://me:secret@localhost/db", "postgresql:///db?password=secret",
            "postgresql:///db?sslpassword=secret",
        ] {
            let error = try await #require(throws: OutboxError.self) { try await Outbox(postgres: text) }
            #expect(error.description.contains("PGPASSFILE"))
            #expect(!error.description.contains("secret"))
        }
        for text in [
            "", "mysql://db", "postgres://[", "postgres:///db?nonsense=1", "mysql://me:secret@db",
            "postgres://me:secret%zz@db", "postgres://me:secret@[db", "postgres:///db?pasword=secret",
            "postgres://me:S3/secret@db/push", "postgres://me:12/secret@db/push", "postgres://m/e:secret@db/push",
            "postgres://@secret@db/push", "postgres:///db ",
        ] {
            let error = try await #require(throws: OutboxError.self) { try await Outbox(postgres: text) }
            #expect(!error.description.contains("secret"), "\(error)")
        }
    }

    @Test("permanent failures are reported at once, such as a missing database or an invalid host")
    func lasting() async throws {
        for (address, text) in [
            (database.server.address(of: "nobody-made-this"), "does not exist"),
            ("postgres://me@/db?hostaddr=nowhere&sslmode=disable", "could not parse network address"),
        ] {
            let error = try await #require(throws: OutboxError.self) {
                try await Outbox(postgres: address, patience: .seconds(300))
            }
            guard case .connection(let words) = error else { throw error }
            #expect(words.contains(text), "\(words)")
        }
    }

    @Test("a server that is unavailable for two seconds is reported once, with the reason") func absence() async throws
    {
        let told = Locked<[String]>([])
        let folder = try TemporaryFolder()
        await #expect(throws: OutboxError.self) {
            try await Outbox(postgres: "postgres:///db?host=\(folder.path)", clock: nil, patience: .seconds(3)) {
                reason in
                told.withLock { $0.append(reason) }
            }
        }
        let reasons = told.withLock { $0 }
        #expect(reasons.count == 1 && reasons.first?.contains("No such file or directory") == true, "\(reasons)")
    }

    @Test(
        "for other machines, the server's certificate is checked with a named CA file, unless sslmode is explicit"
    )
    func encryption() throws {
        let file = "sslrootcert=/etc/ssl/certs/ca-certificates.crt"
        for (text, expected) in [
            ("postgres://me@db.example.com/db?\(file)", "verify-full"),
            ("postgres://me@localhost,192.0.2.1/db?\(file)", "verify-full"),
            ("postgres://me@127.example.com/db?\(file)", "verify-full"),
            ("postgres://me@db/db?hostaddr=127.0.0.1&\(file)", "verify-full"),
            ("postgres://me@db/db?sslmode=prefer&\(file)", "verify-full"),
            ("postgres://me@127.0.0.1.5/db?\(file)", "verify-full"),
            ("postgres://me@localhost/db?service=other&\(file)", "verify-full"),
            ("postgres://me@db/db?sslmode=disable", nil), ("postgres://me@localhost,[::1],127.0.0.2:5433/db", nil),
            ("postgres:///db?host=/run/postgresql", nil), ("postgres:///db", nil),
        ] as [(String, String?)] {
            let parameters = try PostgresAddress(parsing: text).parameters
            #expect(parameters.first { $0.0 == "sslmode" }?.1 == expected, "\(text)")
        }
        do {
            let parameters = try PostgresAddress(parsing: "postgres://me@db.example.com/db").parameters
            #expect(parameters.contains { $0 == ("sslrootcert", "system") }, "libpq 16 supports the system's CA file")
        } catch { #expect(error.description.contains("\(file)")) }
    }

    @Test("on this machine's ports, libpq 16 sends a password only in a way that proves it, unless told otherwise")
    func authentication() throws {
        for (host, more, version, expected) in [
            ("127.0.0.1", nil, 160_000, "scram-sha-256,none"), ("localhost", nil, 170_002, "scram-sha-256,none"),
            ("/run/postgresql,::1", nil, 160_000, "scram-sha-256,none"), ("127.0.0.1", nil, 150_018, nil),
            ("127.0.0.1", "md5", 160_000, nil), ("/run/postgresql", nil, 160_000, nil), ("db", nil, 160_000, nil),
        ] as [(String, String?, CInt, String?)] {
            var given = ["host": host]
            given["require_auth"] = more
            let added = PostgresAddress.authentication(given, version: version)
            #expect(added.first?.1 == expected && added.count == (expected == nil ? 0 : 1), "\(host) \(version)")
        }
    }

    @Test(
        "a pooler in transaction mode is reported, and one in session mode works", .blocking,
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/pgbouncer")),
        arguments: ["transaction", "session"])
    func pooler(_ mode: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            [databases]
            * = host=\(database.server.folder.path) user=postgres
            [pgbouncer]
            pool_mode = \(mode)
            listen_addr =
            unix_socket_dir = \(folder.path)
            auth_type = any
            """, to: "pooler.ini")
        let script = """
            as=; if [ "$(id -u)" -eq 0 ]; then as="setpriv --reuid=postgres --regid=postgres --clear-groups"; fi
            if [ -n "$as" ]; then chown -R postgres: "$0"; fi
            exec $as /usr/sbin/pgbouncer -q "$0/pooler.ini"
            """
        let pooler = try Program(at: "/bin/sh").start(["-c", script, folder.path])
        defer {
            pooler.kill()
            _ = pooler.wait()
        }
        let address = "postgres://postgres@:6432/\(database.name)?host=\(folder.path)"
        do {
            let outbox = try await Outbox(postgres: address, patience: .seconds(300))
            #expect(try await outbox.status().deviceCount == 0 && mode == "session")
        } catch { #expect(error.description.contains("pooler") && mode == "transaction", "\(error)") }
    }

    // MARK: Other transactions

    @Test("a courier skips a device that is being enqueued to and records the other outcomes; then it continues")
    func heldByOthers() async throws {
        for name in ["held", "free"] { try await fixture.addDevice(name) }
        try await fixture.enqueue("one", to: .device("held"))
        let lease = try #require(try await take(1).first)
        try await fixture.enqueue("two", to: .device("free"))
        let other = try await holding("SELECT 1 FROM queues WHERE device = \(lease.device) FOR UPDATE")
        let answer = try await fixture.outbox.store.settle(
            LeaseExchange(settled: [(lease, .accepted)], order: order(2)))
        #expect(answer.unsettled.map(\.lease.number) == [1])
        #expect(answer.leases.map(\.request.address) == [Fixture.address("free")])
        // The entry is still gone.
        #expect(try await fixture.outbox.status().waitingCount == 1)
        try await other.end("COMMIT")
        let again = try await fixture.outbox.store.settle(
            LeaseExchange(settled: answer.unsettled + [(answer.leases[0], .accepted)]))
        #expect(again.unsettled.isEmpty)
        #expect(try await fixture.number("SELECT count(*) FROM queues") == 0)
    }

    @Test("a courier whose outcomes can't be recorded at once submits them again, and every push is delivered once")
    func courierBesideOthers() async throws {
        for number in 0..<10 { try await fixture.addDevice("d\(number)") }
        for _ in 0..<3 { try await fixture.enqueue("Hello", to: .everyone) }
        let other = try await holding("SELECT 1 FROM queues WHERE device <= 5 FOR UPDATE")
        let transport = ScriptedTransport()
        let outbox = try await fixture.reopened(nil)
        let courier = Courier(for: outbox, through: transport, limits: CourierLimits(pollInterval: .milliseconds(5)))
        let run = Task { try await courier.run(until: .empty) }
        try await eventually("the pushes of free devices are delivered") { transport.delivered.all.count == 15 }
        try await other.end("ROLLBACK")
        #expect(try await run.value.acceptedCount == 30)
        #expect(Set(transport.delivered.all.map { $0.apnsID }).count == 30)
    }

    @Test("a courier retries a statement that takes too long, and every push is delivered once")
    func tooLong() async throws {
        for number in 0..<5 { try await fixture.addDevice("d\(number)") }
        try await fixture.enqueue("Hello", to: .everyone)
        let other = try await holding("SELECT 1 FROM entries FOR UPDATE")
        let transport = ScriptedTransport()
        let outbox = try await fixture.reopened(nil)
        let courier = Courier(for: outbox, through: transport, limits: CourierLimits(pollInterval: .milliseconds(5)))
        let run = Task { try await courier.run(until: .empty) }
        for _ in 0..<3 {
            // As the server does after a statement timeout or lock timeout.
            try await eventually("the courier waits, and is cut off") {
                try await fixture.number("SELECT count(pg_cancel_backend(pid)) FROM \(Self.waiting)") ?? 0 > 0
            }
        }
        try await other.end("ROLLBACK")
        #expect(try await run.value.acceptedCount == 5)
        #expect(transport.delivered.all.count == 5)
    }

    @Test("a push that is enqueued while a device's last push is settled is not left behind")
    func settledMeanwhile() async throws {
        try await fixture.addDevice("phone")
        var number: Int64 = 1
        for round in 0..<40 {
            try await fixture.enqueue("first", to: .device("phone"))
            let lease = try #require(try await take(number).first)
            number += 10
            async let enqueued = fixture.enqueue("second", to: .device("phone"))
            var left: [(lease: Lease, settlement: Settlement)] = [(lease, .accepted)]
            while !left.isEmpty { left = try await fixture.outbox.store.settle(LeaseExchange(settled: left)).unsettled }
            _ = try await enqueued
            let second = try #require(try await take(number).first, "round \(round)")
            number += 10
            _ = try await fixture.outbox.settle([(second, .accepted)], taking: nil)
        }
        #expect(try await fixture.number("SELECT count(*) FROM queues") == 0)
    }

    @Test("status shows the number of pushes in transit by host") func hosts() async throws {
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        try await fixture.enqueue("Hello", to: .everyone)
        #expect(try await take(1).count == 3)
        try await database.run("UPDATE queues SET holder = 'other' WHERE device = (SELECT max(device) FROM queues)")
        let hosts = try await fixture.outbox.status().leasedByHost
        #expect(hosts == ["other": 1, PostgresStore.hostName: 2])
    }

    @Test("generations turn during other work: a device never has two rows, and each push is delivered once")
    func generations() async throws {
        var recipients: [String] = []
        for number in 0..<3 {
            try await fixture.addDevice("d\(number)")
            recipients.append(try await fixture.recipient(DeviceName(parsing: "d\(number)")!))
        }
        let outbox = try await fixture.reopened(nil)
        let store = try #require(outbox.store as? PostgresStore)
        let transport = ScriptedTransport()
        let courier = Courier(for: outbox, through: transport, limits: CourierLimits(pollInterval: .milliseconds(5)))
        let run = Task { try await courier.run() }
        let turning = Task {
            while !Task.isCancelled {
                _ = try await store.turn()
                let doubled = try await fixture.number(
                    "SELECT count(*) FROM (SELECT 1 FROM queues GROUP BY device HAVING count(*) > 1) AS doubled")
                try #require(doubled == 0)
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        let (sealer, database, calls) = (fixture.sealer, database, recipients)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<40 {
                    try await outbox.enqueue(
                        OutgoingMessage(Content(body: "\(number)")), to: .everyone, from: sealer,
                        includingUnverified: true)
                }
            }
            for (number, recipient) in calls.enumerated() {
                group.addTask {
                    for round in 0..<20 {
                        // One at a time, in transactions that last: a generation or two turn in the meantime.
                        let call = Self.call(device: "d\(number)", recipient: recipient)
                        try await database.run("BEGIN; \(call); SELECT pg_sleep(\(round % 4 == 0 ? 0.03 : 0)); COMMIT")
                    }
                }
            }
            try await group.waitForAll()
        }
        let expected = 40 * 3 + 20 * 3
        try await eventually("all is delivered") { try await outbox.status().outcomes == ["accepted": expected] }
        turning.cancel()
        _ = await turning.result
        await courier.stop()
        _ = try await run.value
        #expect(transport.delivered.all.count == expected)
        #expect(Set(transport.delivered.all.map(\.apnsID)).count == expected)
        #expect(try await fixture.number("SELECT current FROM generations") ?? 0 > 10)
        #expect(try await fixture.number("SELECT count(*) FROM queues") == 0)
    }

    @Test("no generation turns while an open transaction may still insert rows of the one before the last")
    func heldGeneration() async throws {
        let store = try #require(fixture.outbox.store as? PostgresStore)
        let other = try await holding("SELECT sealed_push.generation()")
        #expect(try await store.turn())
        #expect(try await !store.turn())
        try await other.end("COMMIT")
        #expect(try await store.turn())
    }

    @Test("a sleeping courier is woken by enqueueing, through the library or in SQL", arguments: [true, false])
    func woken(inSQL: Bool) async throws {
        try await fixture.addDevice("phone")
        let transport = ScriptedTransport()
        // Otherwise, it would poll after an hour.
        let courier = Courier(
            for: try await fixture.reopened(nil), through: transport,
            limits: CourierLimits(pollInterval: .seconds(3_600)))
        let run = Task { try await courier.run() }
        try await eventually("it sleeps") {
            try await fixture.number(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            ) == 1
        }
        for count in 1...3 {
            if inSQL {
                try await database.run(Self.call(recipient: try await fixture.recipient("phone")))
            } else {
                try await fixture.enqueue("Hello", to: .device("phone"))
            }
            try await eventually("it is delivered") { transport.delivered.all.count == count }
        }
        await courier.stop()
        _ = try await run.value
    }

    // MARK: A server that goes away

    @Test("randomly cut connections have no effect: every push is delivered, in order, and enqueued once")
    func cut() async throws {
        for number in 0..<5 { try await fixture.addDevice("d\(number)") }
        let outbox = try await fixture.reopened(nil)
        let transport = ScriptedTransport()
        let courier = Courier(for: outbox, through: transport, limits: CourierLimits(pollInterval: .milliseconds(5)))
        let run = Task { try await courier.run() }
        let enqueued = Locked(0)
        let cutting = Task {
            // The pauses between cuts grow until both sides have made progress, however slow the machine is.
            var (pause, last) = (Duration.milliseconds(3), (enqueued: 0, delivered: 0))
            while !Task.isCancelled {
                try await database.run(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3"
                )
                try await Task.sleep(for: pause)
                let now = (enqueued: enqueued.withLock { $0 }, delivered: transport.delivered.all.count)
                let bothAdvanced = now.enqueued > last.enqueued && now.delivered > last.delivered
                (pause, last) = bothAdvanced ? (.milliseconds(3), now) : (pause * 1.1, last)
            }
        }
        let sealer = fixture.sealer
        for number in 0..<60 {
            try await outbox.enqueue(
                OutgoingMessage(Content(body: "\(number)")), to: number % 3 == 0 ? .everyone : .device("d1"),
                from: sealer, includingUnverified: true)
            enqueued.withLock { $0 += 1 }
        }
        cutting.cancel()
        _ = await cutting.result
        let expected = 20 * 5 + 40
        try await eventually("all is delivered") {
            try await outbox.status().waitingCount == 0 && Set(transport.delivered.all.map(\.apnsID)).count == expected
        }
        await courier.stop()
        _ = try await run.value
        #expect(Set(transport.delivered.all.map(\.apnsID)).count == expected)
        #expect(try await outbox.status().outcomes == ["accepted": expected])
    }

    @Test("a server that is stopped abruptly, again and again, loses and duplicates no push")
    func stopped() async throws {
        let server = try await PostgresServer()
        let database = try await server.database()
        let outbox = try await Outbox(postgres: database.address, patience: .seconds(300))
        for number in 0..<5 {
            let device = try await fixture.addDevice("d\(number)")
            try await outbox.register(device)
        }
        let transport = ScriptedTransport()
        let courier = Courier(for: outbox, through: transport, limits: CourierLimits(pollInterval: .milliseconds(5)))
        let run = Task { try await courier.run() }
        let (sealer, count) = (fixture.sealer, 40)
        for number in 0..<count {
            if number % 10 == 5 {
                try server.end()
                try server.start()
            }
            try await outbox.enqueue(
                OutgoingMessage(Content(body: "\(number)")), to: .everyone, from: sealer, includingUnverified: true)
        }
        try await eventually("all is delivered") {
            try await outbox.status().waitingCount == 0 && Set(transport.delivered.all.map(\.apnsID)).count == 5 * count
        }
        await courier.stop()
        _ = try await run.value
        #expect(try await outbox.status().outcomes == ["accepted": 5 * count])
        // In order for each device, by each push's first arrival.
        for number in 0..<5 {
            var seen: Set<String> = []
            let sent = transport.delivered.all.filter { $0.address == Fixture.address("d\(number)") }
                .map(\.apnsID).filter { seen.insert($0).inserted }
            #expect(sent.count == count)
        }
    }

    @Test(
        "an enqueue that was cut off while waiting for a synchronous standby is confirmed only once the standby has it")
    func standby() async throws {
        let server = try await PostgresServer()
        let database = try await server.database()
        let outbox = try await Outbox(postgres: database.address, patience: .seconds(300))
        try await outbox.register(try await fixture.addDevice("d"))
        let settings = server.folder.appending("data/postgresql.auto.conf")
        // A standby that never connects.
        try await configure(database, settings, "synchronous_standby_names = 'none'")
        let (sealer, isStored) = (fixture.sealer, Locked(false))
        let enqueuing = Task {
            try await outbox.enqueue(
                OutgoingMessage(Content(body: "Hello")), to: .everyone, from: sealer, includingUnverified: true)
            isStored.withLock { $0 = true }
        }
        let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        for _ in 0..<3 {
            try await eventually("it waits") {
                if isStored.withLock({ $0 }) { return true }
                return try await !database.run(waiting).isEmpty
            }
            try #require(!isStored.withLock { $0 })
            for pid in try await database.run(waiting).compactMap({ $0.first ?? nil }) {
                try await database.run("SELECT pg_terminate_backend(\(pid), 60000)")
            }
        }
        try await configure(database, settings, "")
        try await enqueuing.value
        #expect(try await outbox.status().waitingCount == 1)

        // A caller that asks again under a finished key may be getting its first answer.
        @Sendable func enqueue() async throws -> Int {
            try await outbox.enqueue(
                OutgoingMessage(Content(body: "Hello"), key: IdempotencyKey("k")), to: .device("d"), from: sealer,
                includingUnverified: true
            ).enqueuedCount
        }
        #expect(try await enqueue() == 1)
        try await configure(database, settings, "synchronous_standby_names = 'none'")
        let isKnown = Locked(false)
        let repeating = Task {
            let count = try await enqueue()
            isKnown.withLock { $0 = true }
            return count
        }
        try await eventually("it waits") {
            if isKnown.withLock({ $0 }) { return true }
            return try await !database.run(waiting).isEmpty
        }
        #expect(!isKnown.withLock { $0 })
        try await configure(database, settings, "")
        #expect(try await repeating.value == 0)
    }

    private func configure(_ database: PostgresServer.Database, _ file: URL, _ text: String) async throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data("\(text)\n".utf8))
        try handle.close()
        let value = text.isEmpty ? "" : "none"
        try await eventually("the setting is read") {
            _ = try await database.run("SELECT pg_reload_conf()")
            return try await database.run("SHOW synchronous_standby_names").first?.first == value
        }
        // The process that decides which commits wait has read it, too.
        try await database.run("CHECKPOINT")
    }

    // MARK: SQL

    private static func call(
        device: String = "phone", recipient: String, id: String = UUID().uuidString.lowercased(),
        collapse: String = "c", payload: String = Fixture.sealedText, priority: Int = 10,
        sender: String = "'anonymous'", more: String = ""
    ) -> String {
        "SELECT sealed_push.enqueue('\(device)', '\(recipient)', '\(payload)', E'\(id)', E'\(collapse)', \(priority), sender => \(sender)\(more))"
    }

    @Test("sealed_push.enqueue: a rollback leaves no trace, and a commit is delivered as specified")
    func transactions() async throws {
        try await fixture.addDevice("phone")
        let recipient = try await fixture.recipient("phone")
        try await database.run("BEGIN; \(Self.call(recipient: recipient, more: ", key => 'k'")); ROLLBACK")
        for table in ["entries", "queues", "requests"] {
            #expect(try await fixture.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        let id = UUID().uuidString.lowercased()
        let call = Self.call(
            recipient: recipient, id: id, priority: 5, more: ", expiration => 4000000000, key => 'k'")
        #expect(try await database.run("BEGIN; \(call); COMMIT; \(call)").first?.first == "repeated")
        #expect(try await fixture.outbox.status().waitingBySender == [.anonymous: 1])
        let transport = ScriptedTransport()
        try await fixture.deliver(transport, until: .empty)
        let request = try #require(transport.delivered.all.first)
        #expect(request.apnsID == id)
        #expect(String(decoding: request.body, as: UTF8.self) == Fixture.sealedText)
        #expect(request.priority == .considerate)
        #expect(request.expiration?.secondsSince1970 == 4_000_000_000)
        #expect(transport.delivered.all.count == 1)
    }

    @Test("sealed_push.enqueue: a possibly stale snapshot is refused", arguments: ["REPEATABLE READ", "SERIALIZABLE"])
    func isolation(level: String) async throws {
        try await fixture.addDevice("phone")
        let call = Self.call(recipient: try await fixture.recipient("phone"))
        let error = try await #require(throws: OutboxError.self) {
            try await database.run("BEGIN ISOLATION LEVEL \(level); \(call); COMMIT")
        }
        guard case .server(code: "25001", _) = error else { throw error }
        #expect(try await fixture.number("SELECT count(*) FROM entries") == 0)
    }

    @Test("sealed_push.enqueue: a push with the library's code is delivered, and one with another code isn't")
    func codes() async throws {
        let key = OutboxKey()
        let fixture = try await Fixture.$key.withValue(key) {
            try await StoreKind.$current.withValue(.postgres) { try await Fixture() }
        }
        let device = try await fixture.addDevice("phone")
        guard case .unverified(let recipient) = device.keys else {
            Issue.record("a device without a record isn't verified")
            return
        }
        for (name, count) in [("phone", 1), ("tablet", 0)] as [(DeviceName, Int)] {
            let payload = try fixture.sealer.seal(Content(body: "Hello"), toUnverified: recipient)
            let arguments = EnqueueArguments(payload, from: fixture.sealer, for: name, outboxKey: key)
            var call = EnqueueArguments.statement
            for (number, value) in arguments.parameters.enumerated().reversed() {
                let text = value.map { "'\($0.replacingOccurrences(of: "'", with: "''"))'" } ?? "NULL"
                call = call.replacingOccurrences(of: "$\(number + 1)", with: text)
            }
            if name != "phone" { call = call.replacingOccurrences(of: "'\(name)'", with: "'phone'") }
            #expect(try await fixture.database?.run(call).first?.first == "enqueued")
            let report = try await fixture.deliver(ScriptedTransport(), until: .empty)
            #expect(report.acceptedCount == count)
            #expect(report.refused == (count == 0 ? ["forged": 1] : [:]))
        }
    }

    @Test(
        "sealed_push.enqueue: two concurrent calls with one key enqueue once; after a rollback, the other one enqueues")
    func keysAtOnce() async throws {
        try await fixture.addDevice("phone")
        let recipient = try await fixture.recipient("phone")
        for (end, count) in [("COMMIT", 1), ("ROLLBACK", 2)] {
            let key = ", key => 'message \(end)'"
            let first = try await holding(Self.call(recipient: recipient, more: key))
            let database = database
            let second = Task { try await database.run(Self.call(recipient: recipient, more: key)).first?.first ?? "" }
            try await eventually("the second waits") { try await fixture.number(Self.waitingCount) == 1 }
            try await first.end(end)
            #expect(try await second.value == (end == "COMMIT" ? "repeated" : "enqueued"))
            #expect(try await fixture.outbox.status().waitingCount == count)
        }
    }

    @Test(
        "sealed_push.store: of two concurrent calls for a device without a queue, one waits, and the device gets one queue"
    )
    func storesAtOnce() async throws {
        try await fixture.addDevice("phone")
        let store = """
            SELECT sealed_push.store(NULL, 'device phone', NULL, 1, '{10}', '{anonymous}', \
            (SELECT ARRAY[id] FROM sealed_push.recipients), (SELECT ARRAY[revision] FROM sealed_push.recipients), \
            '{4000000000000}', '{NULL}', '{0a1b2c3d-0000-4000-8000-00000000000f}', '{c}', \
            ARRAY[convert_to('\(Fixture.sealedText)', 'UTF8')], '{NULL}')
            """
        let first = try await holding(store)
        let (database, isOver) = (database, Locked(false))
        let second = Task {
            defer { isOver.withLock { $0 = true } }
            return try await database.run(store).first?.first ?? ""
        }
        try await eventually("the second waits, as it should, or is done") {
            if isOver.withLock({ $0 }) { return true }
            return try await fixture.number(Self.waitingCount) == 1
        }
        try await first.end("COMMIT")
        #expect(try await second.value == "t")
        #expect(try await fixture.number("SELECT count(*) FROM queues") == 1)
        #expect(try await fixture.outbox.status().waitingCount == 2)
    }

    @Test("sealed_push.enqueue: problems with a device are reported, and an invalid push is refused")
    func refusals() async throws {
        try await fixture.addDevice("phone")
        let recipient = try await fixture.recipient("phone")
        #expect(
            try await database.run(Self.call(device: "other", recipient: recipient)).first?.first == "unknown-device")
        #expect(try await database.run(Self.call(recipient: "pushkey1other")).first?.first == "other-recipient")
        try await fixture.addDevice("hybrid", identity: DevicePrivateKey(.hybrid))
        let hybrid = try await fixture.recipient("hybrid")
        for (key, answer) in [
            (hybrid, "enqueued"), (String(hybrid.dropLast()), "other-recipient"), (recipient, "other-recipient"),
        ] {
            #expect(try await database.run(Self.call(device: "hybrid", recipient: key)).first?.first == answer)
        }
        try await database.run("UPDATE devices SET keeps = 3 WHERE name = 'hybrid'")
        for (days, answer) in [(3, "enqueued"), (4, "expires-too-late")] {
            let more = ", expiration => \(fixture.now.secondsSince1970 + Int64(days) * 86_400)"
            let call = Self.call(device: "hybrid", recipient: hybrid, more: more)
            #expect(try await database.run(call).first?.first == answer)
        }
        #expect(
            try await database.run(Self.call(device: "hybrid", recipient: hybrid)).first?.first == "enqueued"
        )
        let duration = "SELECT send_until - enqueued FROM entries ORDER BY id DESC LIMIT 1"
        #expect(try await fixture.number(duration) == 3 * 86_400_000)
        try await database.run("UPDATE devices SET token_refusal = 'BadDeviceToken'")
        let key = ", key => 'later'"
        #expect(try await database.run(Self.call(recipient: recipient, more: key)).first?.first == "no-token")
        try await database.run("UPDATE devices SET token_refusal = NULL")
        #expect(try await database.run(Self.call(recipient: recipient, more: key)).first?.first == "enqueued")
        for call in [
            Self.call(recipient: recipient, id: "short"), Self.call(recipient: recipient, collapse: "a b"),
            Self.call(recipient: recipient, priority: 7),
            Self.call(recipient: recipient, payload: #"{"aps":{"alert":"Your bank: call 555-0100"}}"#),
            Self.call(recipient: recipient, more: ", expiration => -1"),
            Self.call(recipient: recipient, more: ", expiration => 253402300800"),
            Self.call(recipient: recipient, more: ", expiration => \(Int64.max)"),
            Self.call(recipient: recipient, more: ", key => ''"), Self.call(recipient: recipient, sender: "NULL"),
            Self.call(recipient: recipient, more: ", code => '\\x00'"),
        ] {
            let error = try await #require(throws: OutboxError.self, "\(call.prefix(120))") {
                try await database.run(call)
            }
            guard case .server(code: "22023", _) = error else { throw error }
        }
        #expect(try await database.run(Self.call(recipient: recipient, collapse: "!~")).first?.first == "enqueued")
        let sender = "'\(fixture.sender.sender)'"
        #expect(try await database.run(Self.call(recipient: recipient, sender: sender)).first?.first == "enqueued")
        #expect(
            try await fixture.outbox.status().waitingBySender == [.sender(fixture.sender.sender): 1, .anonymous: 5])
    }

    // MARK: Roles

    @Test(
        "enqueueing roles can't read or take waiting pushes, delivering roles can't enqueue, and neither can change pins"
    ) func roles() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .device("phone"))
        let recipient = try await fixture.recipient("phone")
        let forbidden = [
            "enqueue": [
                "SELECT body FROM entries", "DELETE FROM entries", "UPDATE entries SET body = 'x'",
                "UPDATE queues SET lease = 1", "DELETE FROM queues", "UPDATE devices SET recipient = 'x'",
                "UPDATE devices SET token = 'x'", "SELECT record FROM enrollments",
                "INSERT INTO enrollments VALUES (1, '', '', '')",
                "SELECT body FROM dead_letters", "UPDATE meta SET version = 9", "DELETE FROM requests",
                "SELECT key FROM requests", "UPDATE requests SET is_complete = true",
                "INSERT INTO requests VALUES ('k', '', 0, true, 0, 0)", "INSERT INTO ranges VALUES ('k', 0, 1)",
                "DELETE FROM ranges", "SELECT 1 FROM queues", "UPDATE queues SET priority = 99",
                "INSERT INTO queues VALUES (1)", "UPDATE devices SET is_proven = true",
                "SELECT 1 FROM devices FOR UPDATE",
                "INSERT INTO entries(id, device, priority, enqueued, send_until, apns_id, collapse_id, body) VALUES (9, 1, 10, 0, 0, '', '', '')",
                "INSERT INTO entries(device, priority, enqueued, send_until, apns_id, collapse_id, body) VALUES (1, 10, 0, 0, '', '', '')",
                "SELECT nextval('sealed_push.entries_id_seq')", "SELECT sealed_push.line_up('{1}', 10, '{1}', 0)",
                "SELECT sealed_push.generation()",
                "SELECT sealed_push.turn()", "SELECT sealed_push.moment(0)", "SELECT token FROM devices",
                "SELECT name FROM devices", "UPDATE recipients SET revision = 1",
            ],
            "deliver": [
                "INSERT INTO entries(device, priority, enqueued, send_until, apns_id, collapse_id, body) VALUES (1, 10, 0, 0, '', '', '')",
                "UPDATE entries SET body = 'x'", Self.call(recipient: recipient), "UPDATE devices SET recipient = 'x'",
                "UPDATE devices SET user_name = 'x'", "INSERT INTO devices DEFAULT VALUES", "DELETE FROM devices",
                "SELECT record FROM enrollments", "UPDATE enrollments SET proven = 'x'",
                "INSERT INTO queues VALUES (1)",
                "SELECT sealed_push.next_range('k', 'a', 't', 0, 1)", "SELECT sealed_push.request('k')",
                "SELECT sealed_push.line_up('{1}', 10, '{1}', 0)", "SELECT sealed_push.generation()",
                "UPDATE generations SET current = \(Int64.min)", "UPDATE queues SET generation = 7",
                "UPDATE queues SET device = 7",
                "INSERT INTO dead_letters SELECT *, 'expired', 1, 0 FROM entries", "UPDATE dead_letters SET device = 1",
            ],
            "register": [
                "SELECT body FROM entries", "SELECT apns_id FROM dead_letters", "UPDATE entries SET body = 'x'",
                Self.call(recipient: recipient), "INSERT INTO queues VALUES (1)", "UPDATE meta SET version = 9",
                "UPDATE generations SET current = 7", "SELECT sealed_push.turn()",
                "UPDATE queues SET generation = 7", "UPDATE queues SET device = 7",
                "SELECT sealed_push.bury('{1}', 1, 'x', 'x', 1, 1)",
            ],
        ]
        for (role, statements) in forbidden {
            for statement in statements {
                let error = try await #require(throws: OutboxError.self, "\(role): \(statement)") {
                    try await database.run("SET ROLE sealed_push_\(role); \(statement)")
                }
                guard case .notPermitted = error else {
                    Issue.record("\(role): \(statement): \(error)")
                    continue
                }
            }
        }
    }

    @Test("each role can do everything that it is for, with and without a key", arguments: [false, true])
    func rolesAtWork(isProtected: Bool) async throws {
        let whole =
            isProtected ? OutboxKey() : nil
        // The owner sets the mark: no role may.
        if let whole { try await Outbox(postgres: database.address, key: whole).requireRegistering() }
        let roles = try await ["enqueue", "deliver", "register"].asyncMap { role in
            let name = "\(role)_\(database.name)"
            try await database.run("CREATE ROLE \(name) LOGIN IN ROLE sealed_push_\(role)")
            return try await Outbox(
                postgres: database.address.replacingOccurrences(of: "postgres@", with: "\(name)@"),
                clock: fixture.time.clock, key: whole)
        }
        let (enqueueing, delivering, registering) = (roles[0], roles[1], roles[2])
        try await registering.requireRegistering()
        for other in [enqueueing, delivering] {
            await #expect(throws: OutboxError.self) { try await other.requireRegistering() }
        }
        let device = RegisteredDevice(
            name: "phone", user: "anna", topic: Fixture.topic, keys: .unverified(DevicePrivateKey().recipient),
            address: .active(Fixture.address("phone"), registered: fixture.now))
        try await registering.register(device)
        try await registering.setAddress(Fixture.address("new"), of: "phone", at: fixture.now)
        for key in ["a", "a", "b"] {
            try await enqueueing.enqueue(
                OutgoingMessage(Content(body: "Hello"), key: IdempotencyKey(key)), to: .device("phone"),
                from: fixture.sealer, includingUnverified: true)
        }
        let transport = ScriptedTransport { request, count in
            count == 1 ? .success(.apns(503, nil)) : .success(.accepted(uniqueID: nil))
        }
        let report = try await Courier(for: delivering, through: transport, limits: Fixture.limits()).run(until: .empty)
        #expect(report.acceptedCount == 2)
        try await enqueueing.enqueue(
            OutgoingMessage(Content(body: "Hello")), to: .everyone, from: fixture.sealer, includingUnverified: true)
        _ = try await delivering.purge(.expired)
        #expect(try await delivering.status().waitingCount == 1)
        let gone = ScriptedTransport(refusing: 410, "Unregistered", timestamp: fixture.now.advanced(bySeconds: 60))
        try await Courier(for: delivering, through: gone, limits: Fixture.limits()).run(until: .empty)
        #expect(try await delivering.status().outcomes["dropped:Unregistered"] == 1)
        try await registering.register(device)
        try await enqueueing.enqueue(
            OutgoingMessage(Content(body: "Hello")), to: .everyone, from: fixture.sealer, includingUnverified: true)
        #expect(try await registering.remove("phone") == 1)
    }

    @Test("a device that enrolls again while it waits to be removed stays") func enrolledBeforeRemoval() async throws {
        let key = EnrollmentPrivateKey()
        func record(_ counter: UInt64) throws -> DeviceRecord {
            try fixture.record(of: [DevicePrivateKey().recipient], counter: counter, signedBy: key)
        }
        try await fixture.outbox.register(
            RegisteredDevice(
                name: "phone", user: "anna", topic: Fixture.topic,
                keys: .enrolled(EnrolledDevice(pinning: record(1), topic: Fixture.topic, at: fixture.now)),
                address: .active(Fixture.address("phone"), registered: fixture.now)))
        let other = try await holding(
            "SELECT 1 FROM claims WHERE number = hashtextextended('phone', 20) & 255 FOR UPDATE; UPDATE enrollments SET record = '\(record(9))'"
        )
        async let leaving: Void = fixture.outbox.leave(Leaving(counter: 5, topic: Fixture.topic, signedBy: key))
        try await eventually("the removal waits") { try await fixture.number(Self.waitingCount) == 1 }
        try await other.end("COMMIT")
        try await leaving
        #expect(try await fixture.outbox.devices().map(\.name) == ["phone"])
        try await fixture.outbox.leave(Leaving(counter: 10, topic: Fixture.topic, signedBy: key))
        #expect(try await fixture.outbox.devices().isEmpty)
    }

    // MARK: Helpers

    private func order(_ number: Int64) -> LeaseOrder {
        LeaseOrder(carrier: .apns(), count: 10, considerateCount: 0, duration: .seconds(60), firstNumber: number)
    }

    private func take(_ number: Int64) async throws -> [Lease] {
        try await fixture.outbox.settle([], taking: order(number))
    }

    /// The number of sessions that wait for a lock in this database.
    private static let waitingCount = "SELECT count(*) FROM \(waiting)"
    private static let waiting =
        "pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

    /// Another client's transaction, which stays open.
    private func holding(_ statement: String) async throws -> Holder {
        let connection = try await PostgresConnection.open(PostgresAddress(parsing: database.address))
        let holder = Holder(connection: connection)
        try await holder.end("SET search_path = sealed_push, pg_catalog; BEGIN; \(statement)")
        return holder
    }

    private struct Holder {
        let connection: PostgresConnection

        func end(_ statement: String) async throws {
            _ = try await connection.run { connection throws(OutboxError) in try connection.script(statement) }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
