import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing
import _PushBase

@testable import PushOutbox
@testable import PushPostgres

/// Who may hold up whom: by locks, by numbers, or by a clock that is wrong.
@Suite("What holds up others in PostgreSQL")
struct PostgresHoldUpTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws {
        fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() }
    }

    // MARK: Senders

    @Test("two whose senders are new do not wait for each other")
    func sendersAtOnce() async throws {
        try await fixture.addDevice("phone")
        let other = try await holding("SELECT sealed_push.sender_number('anonymous')")
        try await fixture.enqueue("Hello", to: .everyone)
        #expect(try await fixture.outbox.status().waitingCount == 1)
        try await other.run("COMMIT")
        #expect(try await fixture.number("SELECT count(*) FROM senders") == 2)
    }

    @Test("a sender's number that somebody has already is passed over, and the last of all is in nobody's way")
    func takenNumbers() async throws {
        let number = "1 + floor(random() * 2147483646)::integer"
        let rows = try await database.run(
            """
            INSERT INTO senders(id, key) OVERRIDING SYSTEM VALUE VALUES (2147483647, 'last');
            SELECT setseed(0.5);
            INSERT INTO senders(id, key) OVERRIDING SYSTEM VALUE VALUES (\(number), 'taken');
            SELECT setseed(0.5);
            SELECT sealed_push.sender_number('anonymous') > 0
            """)
        #expect(rows.first?.first == "t")
        #expect(try await fixture.number("SELECT count(*) FROM senders") == 3)
    }

    @Test("a program of version 1, which numbers senders by the sequence, goes on beside")
    func sequence() async throws {
        for name in ["a", "b", "c"] {
            try await database.run(
                """
                SELECT sealed_push.sender_number('\(SenderKey().sender)');
                INSERT INTO senders(key) VALUES ('\(name)') ON CONFLICT ON CONSTRAINT senders_key_key DO NOTHING
                """)
        }
        #expect(try await fixture.number("SELECT count(*) FROM senders") == 6)
    }

    // MARK: Clocks

    @Test(
        "while the database's clock and the host's disagree, what looks stale is kept, and nothing is purged",
        arguments: [(-600_000, true), (600_000, true), (0, false), (-200_000, false)] as [(Int64, Bool)])
    func clocks(difference: Int64, isKept: Bool) async throws {
        let clock = OutboxClock(
            now: { OutboxClock.system.now() + difference }, sleep: OutboxClock.system.sleep)
        let outbox = try await Outbox(
            PostgresStore(PostgresAddress(parsing: database.address), host: clock, patience: .seconds(300)))
        try await fixture.addDevices(0..<2)
        try await fixture.enqueue("Hello", to: .everyone)
        try await database.run("UPDATE entries SET stale = 0")
        #expect(try await outbox.settle([], taking: order()).isEmpty)
        #expect(try await outbox.status().deadLetters == (isKept ? ["expired": 2] : [:]))
        #expect(try await outbox.status().outcomes == ["expired": 2])

        try await fixture.enqueue("Hello", to: .everyone)
        try await database.run("UPDATE entries SET stale = 0")
        #expect(try await outbox.purge(.stale) == (isKept ? 0 : 2))
        #expect(try await outbox.status().waitingCount == (isKept ? 2 : 0))
        #expect(try await outbox.status().deadLetters == (isKept ? ["expired": 2] : [:]))
        // Asked for all, it throws all away.
        _ = try await outbox.purge(.everything)
        #expect(try await outbox.status().waitingCount == 0)
    }

    @Test("what is past its time for many devices is buried by one statement")
    func buriedAtOnce() async throws {
        try await fixture.addDevices(0..<3)
        try await fixture.enqueue("Hello", to: .everyone)
        try await database.run(
            """
            UPDATE entries SET stale = 0;
            CREATE TABLE public.statements(number integer);
            CREATE FUNCTION public.count_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO public.statements VALUES (1);
                RETURN NULL;
            END $$;
            CREATE TRIGGER counted AFTER INSERT ON dead_letters FOR EACH STATEMENT EXECUTE FUNCTION public.count_one()
            """)
        var order = order()
        order.removesStale = false
        #expect(try await fixture.outbox.settle([], taking: order).isEmpty)
        #expect(try await fixture.number("SELECT count(*) FROM public.statements") == 1)
        try await database.run("DROP FUNCTION public.count_one CASCADE; DROP TABLE public.statements")
        #expect(try await fixture.outbox.status().deadLetters == ["expired": 3])
        #expect(try await fixture.outbox.status().outcomes == ["expired": 3])
        #expect(try await fixture.number("SELECT count(*) FROM queues") == 0)
    }

    // MARK: A newer version

    @Test("whoever brings the schema up to date locks in the order of those that work, makes way, and tries again")
    func migration() async throws {
        try await database.run("DROP SCHEMA sealed_push CASCADE")
        try await database.run(PostgresSchema.migrations[0])
        let other = try await holding("LOCK TABLE sealed_push.queues IN ROW EXCLUSIVE MODE")
        let address = database.address
        let opening = Task { _ = try await Outbox(postgres: address) }
        try await eventually("it waits") { try await fixture.number(Self.waitingCount) == 1 }
        // Whoever enqueues comes to these last: nobody has locked them.
        try await other.run("LOCK TABLE sealed_push.entries IN ROW EXCLUSIVE MODE NOWAIT")
        try await eventually("it makes way") { try await fixture.number(Self.waitingCount) == 0 }
        try await other.run("COMMIT")
        try await opening.value
        #expect(try await fixture.number("SELECT version FROM meta") == Int64(PostgresSchema.version))
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND database = "
        let here = "(SELECT oid FROM pg_database WHERE datname = current_database())"
        #expect(try await fixture.number(locks + here) == 0)
    }

    // MARK: Helpers

    private func order() -> LeaseOrder {
        LeaseOrder(carrier: .apns(), count: 10, considerateCount: 0, duration: .seconds(60), firstNumber: 1)
    }

    /// How many wait for a lock in this database.
    private static let waitingCount =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

    /// A transaction of somebody else, which stays open.
    private func holding(_ statement: String) async throws -> Holder {
        let holder = Holder(connection: try await PostgresPool.open(PostgresAddress(parsing: database.address)))
        try await holder.run("BEGIN; \(statement)")
        return holder
    }

    private struct Holder {
        let connection: PostgresConnection

        func run(_ statement: String) async throws {
            _ = try await connection.run { connection throws(OutboxError) in try connection.script(statement) }
        }
    }
}
