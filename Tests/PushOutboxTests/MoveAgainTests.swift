import PushOutbox
import PushPostgres
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// A move that is run again when the new outbox has been in use for long.
@Suite("An outbox that was moved")
struct MoveAgainTests {
    @Test("no number is given a second time, whether the file's or one of later")
    func numbers() async throws {
        let fixture = try await Fixture()
        let database = try await PostgresServer.shared.value.database()
        try await fixture.addDevice("phone")
        for _ in 0..<3 { try await fixture.enqueue("Hello", to: .everyone) }
        #expect(try await !OutboxMove(from: fixture.path, toPostgres: database.address).run().isEmpty)
        let outbox = try await Outbox(postgres: database.address, clock: fixture.time.clock, patience: .seconds(300))
        for _ in 0..<2 {
            try await outbox.enqueue(
                Content(body: "Hello"), to: .everyone, from: fixture.sealer, includingUnverified: true)
        }
        let courier = Courier(for: outbox, through: ScriptedTransport(), limits: Fixture.limits())
        #expect(try await courier.run(until: .empty).acceptedCount == 5)
        // Nothing waits: the tables tell no number.
        let sequence = "SELECT last_value FROM entries_id_seq"
        #expect(try await database.run(sequence).first?.first == "5")
        #expect(try await OutboxMove(from: fixture.path, toPostgres: database.address).run().isEmpty)
        #expect(try await database.run(sequence).first?.first == "5")
        #expect(try await outbox.status().deviceCount == 1)
    }
}
