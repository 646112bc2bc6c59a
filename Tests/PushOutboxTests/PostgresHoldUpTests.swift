import PushCore
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushPostgres

/// Who may hold up whom: by locks, by numbers, or by a clock that is wrong.
@Suite("What holds up others in PostgreSQL") struct PostgresHoldUpTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws { fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() } }

    // MARK: Senders

    @Test("two whose senders are new do not wait for each other") func sendersAtOnce() async throws {
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
            INSERT INTO senders(id, key) VALUES (2147483647, 'last');
            SELECT setseed(0.5);
            INSERT INTO senders(id, key) VALUES (\(number), 'taken');
            SELECT setseed(0.5);
            SELECT sealed_push.sender_number('anonymous') > 0
            """)
        #expect(rows.first?.first == "t")
        #expect(try await fixture.number("SELECT count(*) FROM senders") == 3)
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

    @Test("what is past its time for many devices is buried by one statement") func buriedAtOnce() async throws {
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

    // MARK: Helpers

    private func order() -> LeaseOrder {
        LeaseOrder(carrier: .apns(), count: 10, considerateCount: 0, duration: .seconds(60), firstNumber: 1)
    }

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
