import PushCore
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushPostgres
@testable import PushSender

/// Tests which numbers the tables accept, and how they are handled while clocks disagree.
@Suite("Numbers in PostgreSQL") struct PostgresNumbersTests {
    private let fixture: Fixture
    private var database: PostgresServer.Database { fixture.database! }

    init() async throws { fixture = try await StoreKind.$current.withValue(.postgres) { try await Fixture() } }

    @Test(
        "neither the delivering role nor the owner can write an invalid time or lane",
        arguments: [
            ("deliver", "UPDATE entries SET enqueued = \(Int64.min)"), ("deliver", "UPDATE entries SET enqueued = -1"),
            ("deliver", "UPDATE entries SET enqueued = 253402300800000"),
            ("deliver", "UPDATE queues SET priority = 99"),
            ("postgres", "UPDATE entries SET send_until = \(Int64.max)"),
            ("postgres", "UPDATE entries SET priority = 7"),
            ("postgres", "UPDATE entries SET expiration = -1"), ("postgres", "UPDATE generations SET current = 0"),
            ("postgres", "UPDATE generations SET current = \(Int64.max)"),
            (
                "postgres",
                """
                INSERT INTO dead_letters(id, device, priority, enqueued, send_until, apns_id, collapse_id, body, reason, attempts, buried)
                VALUES (1, 1, 10, -1, 0, '', '', '', '', 0, 0)
                """
            ),
        ])
    func bounds(role: String, statement: String) async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .everyone)
        let name = role == "postgres" ? role : "sealed_push_\(role)"
        let error = try await #require(throws: OutboxError.self) {
            try await database.run("SET ROLE \(name); \(statement)")
        }
        guard case .server(code: "23514", _) = error else { throw error }
    }

    @Test("impossible counts can be summed, shown, and purged", arguments: [Int64.max, .min])
    func sums(value: Int64) async throws {
        let today = Day(of: fixture.time.now).number
        let message = MessageID.random()
        let outcome = "('\(message)', 0, 'enqueued', \(value), \(fixture.time.now))"
        try await database.run("SET ROLE sealed_push_deliver; INSERT INTO outcomes VALUES \(outcome), \(outcome)")
        for table in ["tallies", "receipt_tallies"] {
            for day in [today, today - 2] {
                let row = "(\(day), '\(table == "tallies" ? Tally.accepted : ReceiptTally.shown)', \(value))"
                try await database.run("SET ROLE sealed_push_deliver; INSERT INTO \(table) VALUES \(row), \(row)")
            }
        }
        let most = value > 0 ? 1 << 40 : 0
        #expect(try await fixture.outbox.report(on: message)?.enqueuedCount ?? 0 == most)
        #expect(try await fixture.outbox.status().outcomes == [Tally.accepted: most])
        _ = try await fixture.outbox.purge(.expired)
        let days = try await fixture.outbox.receipts(days: 7).days
        #expect(days.map(\.shownCount) == [most, most])
        #expect(days.map(\.acceptedCount) == [most, most])
    }

    @Test(
        "a device's tampered, extreme revision blocks no caller",
        arguments: [Int64.max, .min, 1 << 62])
    func revisions(value: Int64) async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .everyone)
        let revision = "SELECT revision FROM devices"
        try await database.run("SET ROLE sealed_push_deliver; UPDATE devices SET revision = \(value)")
        let gone = ScriptedTransport(refusing: 410, "Unregistered", timestamp: fixture.now.advanced(bySeconds: 60))
        try await fixture.deliver(gone, until: .empty)
        #expect(try await fixture.outbox.status().outcomes == ["dropped:Unregistered": 1])
        #expect(try await fixture.number(revision) != value)
        try await database.run("SET ROLE sealed_push_deliver; UPDATE devices SET revision = \(value)")
        try await fixture.outbox.setAddress(Fixture.address("new"), of: "phone", at: fixture.now)
        #expect(try await fixture.number(revision) != value)
        try await fixture.enqueue("Hello", to: .everyone)
        #expect(try await fixture.deliver(ScriptedTransport(), until: .empty).acceptedCount == 1)
    }

    @Test("a tampered, extreme number of attempts blocks no caller", arguments: [Int64.max, .min])
    func attempts(value: Int64) async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue("Hello", to: .everyone)
        let lease = try #require(try await fixture.outbox.settle([], taking: order()).first)
        try await database.run("SET ROLE sealed_push_deliver; UPDATE queues SET attempts = \(value)")
        _ = try await fixture.outbox.settle([(lease, .returned)], taking: nil)
        #expect(try await fixture.deliver(ScriptedTransport(), until: .empty).acceptedCount == 1)
    }

    @Test("a device's receipts are still counted after their number was tampered with") func receipts() async throws {
        let id = ReceiptID(Array(repeating: 1, count: 16))
        let text = String(repeating: "01", count: 16)
        try await database.run(
            """
            SET ROLE sealed_push_deliver;
            INSERT INTO receipt_devices VALUES ('\\x\(text)', 0, \(Int64.max), \(Int64.max), 0, \(Int64.max), \(Int64.max))
            """)
        let receipt = ShownReceipt(
            ReceiptBody(
                id: id, number: Array(repeating: 2, count: 16), created: fixture.now, elapsedMilliseconds: 300,
                counts: (0..<25).map { UInt16($0) }))
        #expect(try await fixture.outbox.count([receipt], refused: [:]) == [.counted])
        #expect(try await fixture.number("SELECT shown_that_day FROM receipt_devices") == 1)
    }

    @Test(
        "while the database's and the host's clocks disagree, pushes that look expired are kept, and none is purged",
        arguments: [(-600_000, true), (600_000, true), (0, false), (-200_000, false)] as [(Int64, Bool)])
    func clocks(difference: Int64, isKept: Bool) async throws {
        let clock = OutboxClock(
            now: { OutboxClock.system.now() + difference }, sleep: OutboxClock.system.sleep)
        let outbox = try await Outbox(
            PostgresStore(PostgresAddress(parsing: database.address), host: clock, patience: .seconds(300)))
        try await fixture.addDevices(0..<2)
        try await fixture.enqueue("Hello", to: .everyone)
        try await database.run("UPDATE entries SET send_until = 0")
        #expect(try await outbox.settle([], taking: order()).isEmpty)
        #expect(try await outbox.status().deadLetters == (isKept ? ["expired": 2] : [:]))
        #expect(try await outbox.status().outcomes == ["expired": 2])

        try await fixture.enqueue("Hello", to: .everyone)
        try await database.run("UPDATE entries SET send_until = 0")
        #expect(try await outbox.purge(.expired) == (isKept ? 0 : 2))
        #expect(try await outbox.status().waitingCount == (isKept ? 2 : 0))
        #expect(try await outbox.status().deadLetters == (isKept ? ["expired": 2] : [:]))
        // A purge of everything still deletes all of it.
        _ = try await outbox.purge(.everything)
        #expect(try await outbox.status().waitingCount == 0)
    }

    @Test(
        "expired pushes, or malformed ones, of many devices are buried by one statement",
        arguments: [("send_until = 0", "expired", "expired"), ("apns_id = 'x'", "malformed", "refused:malformed")])
    func buriedAtOnce(fault: String, reason: String, outcome: String) async throws {
        try await fixture.addDevices(0..<3)
        try await fixture.enqueue("Hello", to: .everyone)
        try await database.run(
            """
            UPDATE entries SET \(fault);
            CREATE TABLE public.statements(number integer);
            CREATE FUNCTION public.count_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO public.statements VALUES (1);
                RETURN NULL;
            END $$;
            CREATE TRIGGER counted AFTER INSERT ON dead_letters FOR EACH STATEMENT EXECUTE FUNCTION public.count_one()
            """)
        var order = order()
        order.removesExpired = false
        #expect(try await fixture.outbox.settle([], taking: order).isEmpty)
        #expect(try await fixture.number("SELECT count(*) FROM public.statements") == 1)
        try await database.run("DROP FUNCTION public.count_one CASCADE; DROP TABLE public.statements")
        #expect(try await fixture.outbox.status().deadLetters == [reason: 3])
        #expect(try await fixture.outbox.status().outcomes == [outcome: 3])
        #expect(try await fixture.number("SELECT count(*) FROM queues") == 0)
    }

    private func order() -> LeaseOrder {
        LeaseOrder(carrier: .apns(), count: 10, considerateCount: 0, duration: .seconds(60), firstNumber: 1)
    }
}
