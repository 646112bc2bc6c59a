import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushSender

/// Tests an attacker, or a fault, that writes impossible numbers into one device's rows or into the shared counts.
@Suite("Impossible numbers", .overDatabases) struct NumberTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    /// The columns with numbers, and the rows to change: those of the device `v` where there are any.
    private static let columns: [(table: String, columns: String, rows: String)] = [
        (
            "devices",
            "id carrier token_registered is_proven is_verified valid_from valid_until keeps revision",
            "name = 'v'"
        ),
        ("logins", "ended", "true"),
        (
            "entries", "id device priority enqueued send_until expiration sender",
            "id = (SELECT MIN(e.id) FROM entries e JOIN devices d ON d.id = e.device WHERE d.name = 'v')"
        ),
        (
            "queues", "carrier priority due lease entry head attempts",
            "device = (SELECT id FROM devices WHERE name = 'v')"
        ),
        (
            "dead_letters", "id device priority enqueued send_until expiration sender attempts buried",
            "device = (SELECT id FROM devices WHERE name = 'v')"
        ),
        ("requests", "position is_complete enqueued created", "audience LIKE 'device v of%'"),
        ("requests", "position is_complete enqueued created", "audience LIKE 'everyone%'"),
        ("ranges", "start last", "true"),
        ("outcomes", "device count created", "true"), ("tallies", "day count", "true"),
        ("receipt_tallies", "day count", "true"),
        ("receipt_devices", "last shown failed day shown_that_day failed_that_day", "true"),
        ("receipt_numbers", "day", "true"), ("receipt_failures", "last", "true"),
        ("sqlite_sequence", "seq", "true"),
    ]

    @Test(
        "the largest and the smallest number, in any column, affect no other device, and stop no caller",
        arguments: Thoroughness.isThorough ? [Int64.max, .min, -1, 1 << 62] : [.max, .min],
        Self.columns.map(\.table).indices)
    func others(value: Int64, place: Int) async throws {
        let (table, columns, rows) = Self.columns[place]
        for name in ["d0", "d1"] { try await fixture.addDevice(name) }
        for column in columns.split(separator: " ") {
            try await addVictim()
            // A column that this store doesn't have, or a value that it refuses.
            try? await fixture.execute("UPDATE \(table) SET \(column) = \(value) WHERE \(rows)")
            do { try await useOthers() } catch {
                Issue.record(error, "\(table).\(column) = \(value) over \(StoreKind.current)")
            }
            _ = try? await fixture.outbox.purge(.everything)
            try await fixture.execute("DELETE FROM queues; DELETE FROM entries; DELETE FROM devices WHERE name = 'v'")
        }
    }

    /// Adds a device with a waiting push, a dead letter, a request, a receipt, and an ended login.
    private func addVictim() async throws {
        try await fixture.addDevice("v", user: "vera")
        try await fixture.enqueue(to: .device("v"))
        try await fixture.deliver(ScriptedTransport(refusing: 413, "PayloadTooLarge"))
        for _ in 0..<2 { try await fixture.enqueue(to: .device("v"), key: "v \(fixture.time.now)") }
        let everyone = order(under: "all")
        let batch = try await fixture.outbox.store.candidates(for: everyone)
        #expect(!batch.isDone)
        try await fixture.outbox.endLogins(of: "vera", at: fixture.time.now)
        try await fixture.outbox.count([receipt(Self.victim)], refused: [.rejected: 1])
        fixture.time.advance(by: .seconds(1))
    }

    private func order(under key: String) -> EnqueueOrder {
        EnqueueOrder(
            content: Content(body: "Hello"), topic: Fixture.topic, audience: .everyone, priority: .immediate,
            expiration: nil, includesUnverified: true, key: IdempotencyKey("\(key) \(fixture.time.now)"),
            sealedBy: SealedBy(fixture.sealer), outboxKey: Fixture.key)
    }

    private static let victim = Array(repeating: UInt8(1), count: 16)

    private func receipt(_ id: [UInt8]) -> ShownReceipt {
        ShownReceipt(
            ReceiptBody(
                id: ReceiptID(id),
                number: (0..<16).map { _ in UInt8.random(in: 0...255) }, created: fixture.now,
                elapsedMilliseconds: 300, counts: (0..<25).map { UInt16($0) }))
    }

    /// Uses everything that other devices, and callers for the whole outbox, need.
    private func useOthers() async throws {
        try await fixture.addDevice("d1")
        try await fixture.addDevice("new \(fixture.time.now)", user: "ben")
        for _ in 0..<2 { try await fixture.enqueue(to: .device("d0")) }
        try await fixture.enqueue(to: .device("d1"), priority: .considerate)
        try await fixture.enqueue(to: .user("ben"))
        let report = try await fixture.enqueue(to: .everyone)
        #expect(report.enqueuedCount >= 3)
        let message = try await fixture.outbox.report(on: report.id)
        #expect(message?.enqueuedCount == report.enqueuedCount)
        try await expectDelivered()
        let outcomes = try await fixture.outbox.count(
            [receipt((0..<16).map { _ in UInt8.random(in: 0...255) })], refused: [.rejected: 1])
        #expect(outcomes == [.counted])
        _ = try await fixture.outbox.count([receipt(Self.victim)])
        _ = try await fixture.outbox.receipts(days: 60)
        _ = try await fixture.outbox.status()
        _ = try await fixture.outbox.deadLetters()
        _ = try await fixture.outbox.retry()
        _ = try await fixture.outbox.purge(.expired)
        try await fixture.enqueue(to: .device("d0"))
        try await fixture.deliver()
    }

    /// Delivers to all devices; the victim's is gone, so that its row is changed.
    private func expectDelivered() async throws {
        let victim = Fixture.address("v")
        let gone = fixture.now.advanced(bySeconds: 3_600)
        let transport = ScriptedTransport { request, _ in
            request.address == victim ? .apns(410, "Unregistered", timestamp: gone) : .accepted
        }
        try await fixture.deliver(transport)
        let addresses = transport.delivered.all.map(\.address)
        #expect(addresses.count { $0 == Fixture.address("d0") } == 3)
        #expect(addresses.count { $0 == Fixture.address("d1") } == 2)
    }
}
