import Foundation
import PushCore
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushPostgres

/// Tests databases and roles with unusual settings, and databases that change under a running process.
@Suite("Settings in PostgreSQL") struct PostgresSettingsTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws { fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() } }

    /// Creates a login with these settings, runs the body, and removes the login.
    private func login(
        _ settings: [String], roles: String = "superuser",
        _ body: (_ name: String, _ address: String) async throws -> Void
    ) async throws {
        let name = "login_\(database.name)"
        try await database.run("DROP ROLE IF EXISTS \(name); CREATE ROLE \(name) LOGIN \(roles)")
        for setting in settings { try await database.run("ALTER ROLE \(name) SET \(setting)") }
        try await body(name, database.address.replacingOccurrences(of: "postgres@", with: "\(name)@"))
        try await database.run("DROP ROLE \(name)")
    }

    private func outbox(_ address: String, patience: Duration = .seconds(300)) async throws -> Outbox {
        try await Outbox(postgres: address, clock: fixture.time.clock, patience: patience, rowPatience: .seconds(300))
    }

    @Test(
        "no setting of a role changes what is stored or sent",
        arguments: [
            "statement_timeout = 1", "lock_timeout = 1", "idle_in_transaction_session_timeout = 1",
            "idle_session_timeout = 1", "search_path = public, pg_catalog", "synchronous_commit = off",
            "default_transaction_isolation = serializable", "default_transaction_deferrable = on",
            "standard_conforming_strings = off", "bytea_output = escape", "DateStyle = 'SQL, DMY'",
            "TimeZone = 'Asia/Kathmandu'", "IntervalStyle = iso_8601", "extra_float_digits = -15",
            "client_encoding = LATIN1", "array_nulls = off", "row_security = off", "transform_null_equals = on",
            "default_toast_compression = pglz", "plan_cache_mode = force_generic_plan", "enable_indexscan = off",
            "backslash_quote = off", "quote_all_identifiers = on", "check_function_bodies = off",
        ])
    func settings(setting: String) async throws {
        try await login([setting]) { _, address in
            let outbox = try await outbox(address)
            for name in ["phone", "tablet"] {
                try await outbox.register(
                    RegisteredDevice(
                        name: DeviceName(parsing: name)!, user: "anna", topic: Fixture.topic,
                        keys: .unverified(DevicePrivateKey().recipient),
                        address: .active(Fixture.address(name), registered: fixture.now)))
            }
            try await fixture.enqueue("first", to: .everyone, in: outbox)
            try await fixture.enqueue("second", to: .user("anna"), in: outbox)
            #expect(try await fixture.deliver(from: outbox).acceptedCount == 4)
            #expect(try await outbox.devices().map(\.name) == ["phone", "tablet"])
            try await outbox.requireWritable()
        }
    }

    @Test(
        "a commit is always on the disk before it's confirmed, whatever a role's setting",
        arguments: [
            ("off", "on"), ("local", "on"), ("remote_write", "on"), ("on", "on"), ("remote_apply", "remote_apply"),
        ])
    func synchronousCommit(setting: String, expected: String) async throws {
        try await login(["synchronous_commit = \(setting)"]) { _, address in
            let store = try #require(try await outbox(address).store as? PostgresStore)
            let found = try await store.pool.connected { db throws(OutboxError) in
                try db.script("SHOW synchronous_commit")
            }
            #expect(found == [[expected]])
            let inTransaction = try await store.write { db, _ throws(OutboxError) in
                try db.script("SHOW synchronous_commit")
            }
            #expect(inTransaction == [[expected]])
        }
    }

    @Test("a role that may only read is told so") func readOnly() async throws {
        try await login(["default_transaction_read_only = on"]) { _, address in
            let error = try await #require(throws: OutboxError.self) { try await outbox(address, patience: .zero) }
            guard case .unreachable(let words) = error else { throw error }
            #expect(words.contains("read-only"), "\(words)")
        }
    }

    @Test("a server that becomes read-only isn't ready and stores nothing, says why, and recovers")
    func becomesReadOnly() async throws {
        let server = try await PostgresServer()
        let database = try await server.database()
        let outbox = try await Outbox(
            postgres: database.address, clock: fixture.time.clock, patience: .milliseconds(50))
        try await outbox.requireWritable()
        let administrator = try await PostgresConnection.open(PostgresAddress(parsing: database.address))
        func type(_ statements: String...) async throws {
            _ = try await administrator.run { connection throws(OutboxError) in
                for statement in statements { try connection.script(statement) }
                return true
            }
        }
        try await type("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
        let refused = Locked<OutboxError?>(nil)
        try await eventually("it is refused") {
            do throws(OutboxError) { try await outbox.endLogins(of: "anna", at: 1) } catch {
                refused.withLock { $0 = error }
            }
            return refused.withLock { $0 } != nil
        }
        for problem in [
            refused.withLock { $0 }, await #expect(throws: OutboxError.self) { try await outbox.requireWritable() },
        ] {
            guard case .unreachable(let words) = problem else { throw try #require(problem) }
            #expect(words.contains("read-only"), "\(words)")
        }
        try await type(
            "SET default_transaction_read_only = off", "ALTER SYSTEM RESET default_transaction_read_only",
            "SELECT pg_reload_conf()")
        try await eventually("it is ready again") {
            do {
                try await outbox.requireWritable()
                try await outbox.endLogins(of: "anna", at: 1)
                return true
            } catch OutboxError.unreachable { return false }
        }
    }

    @Test(
        "an outbox whose login has lost a role or its schema isn't ready, and says why",
        arguments: ["enqueue", "deliver", "register"])
    func lostRole(role: String) async throws {
        let all = "sealed_push_enqueue, sealed_push_deliver, sealed_push_register"
        try await login([], roles: "IN ROLE \(all)") { name, address in
            let outbox = try await outbox(address)
            try await outbox.requireWritable()
            try await database.run("REVOKE sealed_push_\(role) FROM \(name)")
            let error = try await #require(throws: OutboxError.self) { try await outbox.requireWritable() }
            guard case .notPermitted(let words) = error else { throw error }
            #expect(words.contains("sealed_push_\(role)"), "\(words)")
            try await database.run("REVOKE \(all) FROM \(name)")
            let last = try await #require(throws: OutboxError.self) { try await outbox.requireWritable() }
            guard case .notPermitted = last else { throw last }
            try await database.run("GRANT \(all) TO \(name)")
            try await outbox.requireWritable()
        }
    }

    @Test("an outbox whose schema or database is gone isn't ready and stores nothing, and says why") func gone()
        async throws
    {
        let server = try await PostgresServer()
        let database = try await server.database()
        let outbox = try await Outbox(postgres: database.address, clock: fixture.time.clock, patience: .seconds(1))
        func expect(_ text: String) async throws {
            // At first, it may be told how its old connection ended, if nothing else was tried within its patience.
            try await eventually("it says why") {
                do throws(OutboxError) { try await outbox.requireWritable() } catch {
                    guard case .connection(let words) = error else { return false }
                    return words.contains(text)
                }
                return false
            }
            await #expect(throws: OutboxError.self) {
                try await fixture.enqueue(to: .everyone, in: outbox)
                try await outbox.endLogins(of: "anna", at: 1)
            }
        }
        try await database.run("ALTER SCHEMA sealed_push RENAME TO elsewhere")
        try await expect("no longer contains the outbox")
        try await database.run("ALTER SCHEMA elsewhere RENAME TO sealed_push")
        try await outbox.requireWritable()
        try await database.run("UPDATE meta SET version = 99")
        await #expect(throws: OutboxError.otherSchema) { try await outbox.requireWritable() }
        try await database.run("UPDATE meta SET version = \(PostgresSchema.version.stored)")
        let pool = PostgresPool(try PostgresAddress(parsing: server.address(of: "postgres")), patience: .seconds(300))
        func rename(_ old: String, _ new: String) async throws {
            try await pool.connected { db throws(OutboxError) in
                try db.script(
                    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '\(old)'")
                try db.script("ALTER DATABASE \(old) RENAME TO \(new)")
            }
        }
        try await rename(database.name, "elsewhere")
        try await expect("does not exist")
        try await rename("elsewhere", database.name)
        try await outbox.requireWritable()
    }
}
