import Foundation
import PushCore
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushPostgres
@testable import PushSender

/// Tests an attacker who has one of the outbox's roles, and PostgreSQL's own means.
@Suite("The roles in PostgreSQL") struct PostgresRolesTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws { fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() } }

    // MARK: The owner's rights

    /// Types and tables with names that functions use, in the session's own schema. The owner must never run them.
    private static let lures = """
        CREATE FUNCTION pg_temp.reached() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
            IF current_user NOT LIKE 'sealed_push_%' THEN
                RAISE EXCEPTION 'reached as %', current_user USING ERRCODE = 'P0999';
            END IF;
            RETURN true;
        END $$;
        CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (pg_temp.reached());
        CREATE DOMAIN pg_temp.bytea AS pg_catalog.bytea CHECK (pg_temp.reached());
        CREATE DOMAIN pg_temp.int8 AS pg_catalog.int8 CHECK (pg_temp.reached());
        CREATE DOMAIN pg_temp.int4 AS pg_catalog.int4 CHECK (pg_temp.reached());
        CREATE TEMPORARY TABLE devices(id pg_temp.int8);
        CREATE TEMPORARY TABLE entries(id pg_temp.int8)
        """

    /// The calls that each role may make, and their results.
    private static func calls(_ recipient: String) -> [(role: String, call: String, answer: String?)] {
        let key = "\\x\(String(repeating: "0a", count: 32))"
        return [
            (
                "enqueue",
                """
                sealed_push.enqueue('phone', '\(recipient)', '\(Fixture.sealedText)', '\(id)', 'c', key => 'k', \
                sender => 'anonymous', expiration => 4000000000, code => '\(key)')
                """, "enqueued"
            ),
            (
                "enqueue",
                """
                sealed_push.store('\(key)', 'device phone', NULL, 1, '{10}', '{anonymous}', \
                (SELECT ARRAY[id] FROM sealed_push.recipients), \
                (SELECT ARRAY[revision] FROM sealed_push.recipients), \
                '{4000000000000}', '{NULL}', '{\(id)}', '{c}', ARRAY[\(body)], '{NULL}')
                """, "t"
            ), ("enqueue", "(sealed_push.next_range('\(key)', 'everyone', '\(Fixture.topic)', 1, 1000)).start", "0"),
            ("enqueue", "(SELECT count(*) FROM sealed_push.request('\(key)'))", "0"),
            ("enqueue", "sealed_push.set_apart('\(key)', 0, '{1}')", "t"),
            ("deliver", "sealed_push.milliseconds() > 1", "t"), ("deliver", "sealed_push.turn()", "t"),
            ("deliver", "sealed_push.bury('{1}', 1, 'x', 'x', 1, 1)", "0"),
            ("register", "sealed_push.wake()", ""),
        ]
    }

    private static let id = "0a1b2c3d-0000-4000-8000-00000000000f"
    private static let sender = SenderPrivateKey().sender
    private static let body = "convert_to('\(Fixture.sealedText)', 'UTF8')"

    @Test("no function uses the caller's own types or tables and runs them as the owner")
    func temporaryNames() async throws {
        try await fixture.addDevice("phone")
        let recipient = try await fixture.recipient("phone")
        for (role, call, answer) in Self.calls(recipient) {
            // Left open, the transaction ends with the connection, which removes temporary objects: functions are planned
            // once per session.
            let rows = try await database.run("BEGIN; SET ROLE sealed_push_\(role); \(Self.lures); SELECT \(call)")
            #expect(rows.first?.first == answer, "\(call)")
        }
        #expect(try await fixture.number("SELECT count(*) FROM entries") == 0)
    }

    @Test("each function sets its search path with the session's schema last, or resolved its names at creation")
    func searchPaths() async throws {
        let others = try await database.run(
            """
            SELECT proname FROM pg_proc WHERE pronamespace = 'sealed_push'::regnamespace AND prosqlbody IS NULL
                AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)
            """)
        #expect(others.isEmpty, "\(others)")
        let connection = try await PostgresConnection.open(PostgresAddress(parsing: database.address))
        let path = try await connection.run { connection throws(OutboxError) in
            try connection.script("SHOW search_path")
        }
        #expect(path.first?.first == "pg_catalog, pg_temp")
    }

    @Test("each of our roles has only the documented privileges", arguments: ["enqueue", "deliver", "register"])
    func grants(role: String) async throws {
        let writable = try await database.run(
            """
            SELECT DISTINCT table_name FROM (
                SELECT table_schema, table_name, grantee, privilege_type FROM information_schema.column_privileges
                UNION SELECT table_schema, table_name, grantee, privilege_type FROM information_schema.table_privileges
            ) AS privileges
            WHERE table_schema = 'sealed_push' AND grantee = 'sealed_push_\(role)' AND privilege_type <> 'SELECT'
            ORDER BY 1
            """
        ).compactMap { $0.first ?? nil }
        let expected: [String: [String]] = [
            "enqueue": [],
            "deliver": [
                "dead_letters", "devices", "entries", "outcomes", "queues", "receipt_devices", "receipt_failures",
                "receipt_numbers", "receipt_tallies", "requests", "tallies",
            ],
            "register": [
                "claims", "dead_letters", "devices", "enrollments", "entries", "logins", "outcomes", "queues",
                "receipt_devices", "receipt_failures", "receipt_numbers", "registrations", "requests", "tallies",
            ],
        ]
        #expect(writable == expected[role])
        let callable = try await database.run(
            """
            SELECT proname FROM pg_proc WHERE pronamespace = 'sealed_push'::regnamespace
                AND has_function_privilege('sealed_push_\(role)', oid, 'EXECUTE') ORDER BY 1
            """
        ).compactMap { $0.first ?? nil }
        let more = [
            "enqueue": ["enqueue", "next_range", "request", "set_apart", "store"],
            "deliver": ["bury", "is_device", "turn"], "register": ["is_device"],
        ]
        #expect(callable == (["milliseconds", "wake"] + more[role, default: []]).sorted())
    }

    // MARK: Delivering hosts

    @Test("a host that only delivers turns generations one by one, and never in a possibly stale snapshot")
    func turning() async throws {
        let current = "SELECT current FROM generations"
        let before = try #require(try await fixture.number(current))
        let store = try #require(try await outbox(of: "deliver").store as? PostgresStore)
        #expect(try await store.turn())
        #expect(try await fixture.number(current) == before + 1)
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            let error = try await #require(throws: OutboxError.self) {
                try await database.run(
                    "SET ROLE sealed_push_deliver; BEGIN ISOLATION LEVEL \(level); SELECT sealed_push.turn(); COMMIT")
            }
            guard case .server(code: "25001", _) = error else { throw error }
        }
        #expect(try await fixture.number(current) == before + 1)
    }

    // MARK: Enqueuing hosts

    @Test("a host that only enqueues moves a device to the higher-priority lane, and shares a broadcast")
    func enqueuing() async throws {
        let outbox = try await self.outbox(of: "enqueue")
        for number in 0..<3 { try await fixture.addDevice("d\(number)") }
        let (sealer, content) = (fixture.sealer, Content(body: "Hello"))
        for priority in [PushPriority.considerate, .immediate, .considerate] {
            try await outbox.enqueue(
                OutgoingMessage(content, priority: priority), to: .device("d0"), from: sealer, includingUnverified: true
            )
        }
        #expect(try await fixture.number("SELECT priority FROM queues") == 10)
        for _ in 0..<2 {
            let report = try await outbox.enqueue(
                OutgoingMessage(content, key: IdempotencyKey("k")), to: .everyone, from: sealer,
                includingUnverified: true)
            #expect(report.enqueuedCount + report.alreadyEnqueuedCount == 3)
        }
        await #expect(throws: OutboxError.keyUsedForOthers) {
            try await outbox.enqueue(
                OutgoingMessage(content, key: IdempotencyKey("k")), to: .device("d0"), from: sealer,
                includingUnverified: true)
        }
        #expect(try await fixture.deliver(ScriptedTransport(), until: .empty).acceptedCount == 6)
        #expect(try await fixture.number("SELECT count(*) FROM requests WHERE is_complete") == 1)
    }

    @Test(
        "sealed_push.store stores no invalid push",
        arguments: [
            (1, "'k'"), (3, "0"), (4, "-1"), (4, "253402300800000"), (5, "'{7}'"), (5, "'{}'"), (6, "'{nobody}'"),
            (6, "'{pushsender1}'"),
            (6, "'{\(PostgresRolesTests.sender)q}'"), (6, "'{\("\(PostgresRolesTests.sender)".uppercased())}'"),
            (6, "'{NULL}'"), (6, "NULL"),
            (8, "'{99}'"), (9, "'{-1}'"), (9, "'{}'"),
            (10, "'{-1}'"), (10, "'{253402300800}'"), (11, "'{NULL}'"), (11, "'{short}'"),
            (11, "'{\(PostgresRolesTests.id.uppercased())}'"),
            (11, "'{\(PostgresRolesTests.id.replacingOccurrences(of: "-", with: "0"))}'"),
            (11, "ARRAY[E'\(PostgresRolesTests.id.dropLast())\\n']"),
            (11, "ARRAY[E'\(PostgresRolesTests.id)\\n']"), (12, "ARRAY[E'x\\r\\nevil: 1']"), (12, "ARRAY[E'c\\n']"),
            (12, "'{}'"),
            (12, "'{\"\"}'"), (12, "'{a b}'"), (12, "'{ä}'"), (12, "ARRAY[repeat('c', 65)]"),
            (13, "ARRAY[convert_to(repeat('a', 4097), 'UTF8')]"), (13, "'{NULL}'"), (13, "'{\"{}\"}'"), (14, "'{x}'"),
            (15, "'x'"), (16, "'x'"),
        ])
    func noPushes(place: Int, value: String) async throws {
        try await fixture.addDevice("phone")
        var values = [
            "'\\x\(String(repeating: "0a", count: 32))'", "'device phone'", "NULL", "1", "'{10}'", "'{anonymous}'",
            "(SELECT ARRAY[id] FROM recipients)", "(SELECT ARRAY[revision] FROM recipients)", "'{4000000000000}'",
            "'{NULL}'", "'{\(Self.id)}'", "'{c}'", "ARRAY[\(Self.body)]", "'{NULL}'", "NULL", "NULL",
        ]
        values[place - 1] = value
        let call = "SET ROLE sealed_push_enqueue; SELECT sealed_push.store(\(values.joined(separator: ", ")))"
        // An unknown range and a changed device are reported by the result.
        if [3, 8].contains(place) {
            #expect(try await database.run(call).first?.first == "f")
        } else {
            let error = try await #require(throws: OutboxError.self) { try await database.run(call) }
            guard case .server(code: "22023", _) = error else { throw error }
        }
        for table in ["entries", "queues", "requests"] {
            #expect(try await fixture.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
    }

    @Test("no push is stored for a device that is named twice or has changed") func doubled() async throws {
        try await fixture.addDevice("phone")
        for (ids, revisions) in [("id, id", "revision, revision"), ("id", "revision + 1"), ("id + 1", "revision")] {
            let count = ids.split(separator: ",").count
            let list = { (text: String) in Array(repeating: text, count: count).joined(separator: ", ") }
            let rows = try await database.run(
                """
                SELECT sealed_push.store(NULL, 'device phone', NULL, 1, '{\(list("10"))}',
                    '{\(list("anonymous"))}', ARRAY[\(ids)], ARRAY[\(revisions)],
                    '{\(list("4000000000000"))}', '{\(list("NULL"))}', '{\(list(Self.id))}', '{\(list("c"))}',
                    ARRAY[\(list(Self.body))], '{\(list("NULL"))}') FROM devices
                """)
            #expect(rows.first?.first == "f", "\(ids)")
        }
        #expect(try await fixture.number("SELECT count(*) FROM queues") == 0)
    }

    @Test(
        "a host that only enqueues can't shift a time by more than a day, or keep pushes longer than others",
        arguments: [0, 253_402_300_799_999])
    func dates(time: Int64) async throws {
        try await fixture.addDevice("phone")
        let connection = try await PostgresConnection.open(PostgresAddress(parsing: address(of: "enqueue")))
        let key = "\\x\(String(repeating: "0a", count: 32))"
        _ = try await connection.run { connection throws(OutboxError) in
            try connection.script(
                """
                SELECT sealed_push.store(NULL, 'device phone', NULL, \(time), '{10}', '{anonymous}', ARRAY[id], ARRAY[revision],
                    '{253402300799999}', '{NULL}', '{\(Self.id)}', '{c}', ARRAY[\(Self.body)], '{NULL}') FROM sealed_push.recipients;
                SELECT sealed_push.next_range('\(key)', 'everyone', '\(Fixture.topic)', \(time), 1000)
                """)
        }
        for column in ["enqueued FROM entries", "due FROM queues", "created FROM requests"] {
            let found = try #require(try await fixture.number("SELECT \(column)"), "\(column)")
            #expect(abs(found - OutboxClock.system.now()) < 3_600_000, "\(column)")
        }
        #expect(try await fixture.number("SELECT send_until - enqueued FROM entries") == EnqueueOrder.lifetime)
    }

    @Test("a message's pushes can't be added to by others, by any function that stores them") func otherMessages()
        async throws
    {
        try await fixture.addDevice("phone")
        let (topic, now) = (Fixture.topic, fixture.time.now)
        let known = try await fixture.enqueue("Hello", to: .everyone).id
        let (own, key) = (MessageID.random(), "\\x\(String(repeating: "0a", count: 32))")
        func store(_ start: String, _ message: MessageID) -> String {
            """
            SELECT sealed_push.store('\(key)', 'everyone', \(start), \(now), '{10}', '{anonymous}', ARRAY[id], ARRAY[revision],
                '{4000000000000}', '{NULL}', '{\(Self.id)}', '{c}', ARRAY[\(Self.body)], '{NULL}', '\(message)')
            FROM sealed_push.recipients
            """
        }
        let range = "SELECT sealed_push.next_range('\(key)', 'everyone', '\(topic)', \(now), 1000,"
        for statement in [
            store("NULL", known), "\(range) '\(known)')", "\(range) '\(own)'); \(store("0", known))",
            "\(range) '\(own)'); \(store("0", .random()))",
        ] {
            let error = try await #require(throws: OutboxError.self, "\(statement)") {
                try await database.run("SET ROLE sealed_push_enqueue; BEGIN; \(statement); COMMIT")
            }
            guard case .server(code: "22023", _) = error else { throw error }
        }
        #expect(try await fixture.outbox.report(on: known)?.enqueuedCount == 1)
        try await database.run("SET ROLE sealed_push_enqueue; \(range) '\(own)'); \(store("0", own))")
        #expect(try await fixture.outbox.report(on: own)?.enqueuedCount == 1)
    }

    @Test("neither function stores a push that expires too late for its device, or keeps it for longer than its key")
    func expirations() async throws {
        try await fixture.addDevice("phone")
        try await database.run("UPDATE devices SET keeps = 3")
        let recipient = try await fixture.recipient("phone")
        let now = OutboxClock.system.now()
        let seconds = now / 1_000 + 3 * 86_400
        for (expiration, isStored) in [(seconds, true), (seconds + 7_200, false)] {
            let store = """
                SET ROLE sealed_push_enqueue; SELECT sealed_push.store(NULL, 'device phone', NULL, \(now), '{10}', '{anonymous}',
                    ARRAY[id], ARRAY[revision], '{4000000000000}', '{\(expiration)}', '{\(Self.id)}', '{c}',
                    ARRAY[\(Self.body)], '{NULL}') FROM sealed_push.recipients
                """
            let enqueue = """
                SET ROLE sealed_push_enqueue; SELECT sealed_push.enqueue('phone', '\(recipient)', '\(Fixture.sealedText)',
                    '\(Self.id)', 'c', sender => 'anonymous', expiration => \(expiration))
                """
            #expect(try await database.run(enqueue).first?.first == (isStored ? "enqueued" : "expires-too-late"))
            if isStored {
                #expect(try await database.run(store).first?.first == "t")
            } else {
                let error = try await #require(throws: OutboxError.self) { try await database.run(store) }
                guard case .server(code: "22023", _) = error else { throw error }
            }
        }
        #expect(try await fixture.number("SELECT count(*) FROM entries") == 2)
        #expect(try await fixture.number("SELECT max(send_until - enqueued) FROM entries") == 3 * 86_400_000)
    }

    @Test("no lock that a login without privileges can hold delays another caller") func advisoryLocks() async throws {
        // Nobody else is at work, so a short patience is enough.
        let outbox = try await Outbox(
            postgres: database.address, clock: fixture.time.clock, patience: .seconds(20), rowPatience: .seconds(5))
        try await fixture.addDevice("phone")
        let intruder = try await PostgresConnection.open(PostgresAddress(parsing: address(of: "enqueue")))
        let receipt = ShownReceipt(
            ReceiptBody(
                id: ReceiptID(Array(repeating: 1, count: 16)), number: Array(repeating: 2, count: 16),
                created: fixture.now, elapsedMilliseconds: 300, counts: (0..<25).map { UInt16($0) }))
        // All the numbers that functions or programs have used, and those of their names.
        let names = ["name phone", "user anna", "enrollment x", "receipts \(String(repeating: "01", count: 16))"]
        let locks =
            (0..<5).flatMap { ["0x53505542, \($0)", "0x53505547, \($0)"] }.map { text in
                let parts = text.split(separator: ", ")
                return "\(Int(parts[0].dropFirst(2), radix: 16)!), \(parts[1])"
            } + names.map { "hashtextextended('\($0)', 20)" }
        _ = try await intruder.run { connection throws(OutboxError) in
            for lock in locks { try connection.script("SELECT pg_advisory_lock(\(lock))") }
            return true
        }
        try await outbox.setAddress(Fixture.address("new"), of: "phone", at: fixture.now)
        try await fixture.enqueue("Hello", to: .everyone, in: outbox)
        #expect(try await outbox.count([receipt], refused: [:]) == [.counted])
        #expect(try await #require(outbox.store as? PostgresStore).turn())
        #expect(try await fixture.deliver(from: outbox).acceptedCount == 1)
        #expect(try await outbox.remove("phone") == 0)
        for table in ["even_generations", "odd_generations", "registrations"] {
            let error = await #expect(throws: OutboxError.self) {
                try await database.run("SET ROLE sealed_push_enqueue; BEGIN; LOCK TABLE \(table) IN ROW SHARE MODE")
            }
            guard case .notPermitted = error else { throw try #require(error) }
        }
        let error = await #expect(throws: OutboxError.self) {
            try await database.run("SET ROLE sealed_push_enqueue; SELECT 1 FROM claims FOR UPDATE")
        }
        guard case .notPermitted = error else { throw try #require(error) }
        withExtendedLifetime(intruder) {}
    }

    // MARK: Dead letters

    @Test("a host that only delivers buries pushes as they are, and can't plant a dead letter") func buried()
        async throws
    {
        for name in ["phone", "tablet"] { try await fixture.addDevice(name) }
        try await fixture.enqueue("Hello", to: .device("phone"))
        let columns =
            "id, device, priority, enqueued, send_until, expiration, apns_id, collapse_id, body, sender, code, message"
        let before = try await database.run("SELECT \(columns) FROM entries")
        for statement in [
            "INSERT INTO dead_letters SELECT \(columns), 'expired', 1, 0 FROM entries",
            "UPDATE dead_letters SET device = 2", "UPDATE dead_letters SET reason = 'expired'",
        ] {
            let error = await #expect(throws: OutboxError.self) {
                try await database.run("SET ROLE sealed_push_deliver; \(statement)")
            }
            guard case .notPermitted = error else { throw try #require(error) }
        }
        let entry = try #require(try await fixture.number("SELECT id FROM entries"))
        try await database.run(
            "SET ROLE sealed_push_deliver; SELECT sealed_push.bury('{\(entry)}', NULL, 'expired', 'expired', 1, 1)")
        #expect(try await database.run("SELECT \(columns) FROM dead_letters") == before)
        #expect(try await fixture.outbox.retry(reason: "expired") == 1)
        #expect(try await database.run("SELECT \(columns) FROM entries") == before)
        #expect(try await fixture.deliver().acceptedCount == 1)
    }

    @Test(
        "a dead letter that nobody enqueued isn't requeued, and the others are",
        arguments: [
            "body = convert_to('{\"aps\":{\"alert\":\"Your bank\"}}', 'UTF8')", "body = '\\xff'", "body = ''",
            "apns_id = 'x'", "collapse_id = E'c\\r\\nevil: 1'", "sender = 'nobody'", "sender = NULL", "code = '\\x00'",
            "message = 'x'", "body = body || ' '", "id = (SELECT min(id) FROM entries)",
        ])
    func planted(alteration: String) async throws {
        for name in ["d0", "d1", "d2"] { try await fixture.addDevice(name) }
        try await fixture.enqueue("Hello", to: .everyone)
        try await fixture.deliver(ScriptedTransport(refusing: 413, "PayloadTooLarge"))
        try #require(try await fixture.outbox.status().deadLetters == ["PayloadTooLarge": 3])
        try await fixture.enqueue("Hello", to: .device("d2"))
        try await database.run("UPDATE dead_letters SET \(alteration) WHERE id = (SELECT min(id) FROM dead_letters)")
        #expect(try await fixture.outbox.retry() == 2)
        #expect(try await fixture.outbox.status().deadLetters == ["PayloadTooLarge": 1])
        #expect(try await fixture.deliver().acceptedCount == 3)
        #expect(try await fixture.outbox.retry() == (alteration.hasPrefix("id") ? 1 : 0))
    }

    @Test("with a key, a planted dead letter that looks like a push is refused as forged when it's sent")
    func plantedWithKey() async throws {
        let fixture = try await Fixture.$key.withValue(OutboxKey()) {
            try await StoreKind.$current.withValue(.postgres) { try await Fixture() }
        }
        for name in ["d0", "d1"] { try await fixture.addDevice(name) }
        try await fixture.enqueue("Hello", to: .device("d0"))
        try await fixture.deliver(ScriptedTransport(refusing: 413, "PayloadTooLarge"))
        try await fixture.execute(
            "UPDATE dead_letters SET device = (SELECT id FROM devices WHERE name = 'd1')")
        #expect(try await fixture.outbox.retry() == 1)
        let transport = ScriptedTransport()
        #expect(try await fixture.deliver(transport).refused == ["forged": 1])
        #expect(transport.delivered.all.isEmpty)
    }

    @Test("an address with a password is refused without being repeated", .blocking) func password() throws {
        for address in ["postgres://me:secret@localhost/db", "postgres://me:secret%zz@localhost/db"] {
            let result = try Program("sealedpush").run("outbox", "status", "--outbox", address)
            #expect(result.status != 0)
            #expect(!(result.errors + result.output).contains("secret"), "\(result.errors)")
        }
    }

    // MARK: Helpers

    private func outbox(of role: String) async throws -> Outbox {
        try await Outbox(postgres: address(of: role), clock: fixture.time.clock)
    }

    /// Returns the address for a login with only this role.
    private func address(of role: String) async throws -> String {
        let name = "\(role)_alone_\(database.name)"
        try await database.run(
            """
            DO $$ BEGIN
                IF to_regrole('\(name)') IS NULL THEN CREATE ROLE \(name) LOGIN IN ROLE sealed_push_\(role); END IF;
            END $$
            """)
        return database.address.replacingOccurrences(of: "postgres@", with: "\(name)@")
    }
}
