import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

@Suite("Leases", .overForms) struct LeaseTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    private func take(_ number: Int64, count: Int = 1) async throws -> [Lease] {
        try await fixture.outbox.take(number, count: count)
    }

    /// Takes a lease, and requires that exactly one is available.
    private func takeOne(_ number: Int64) async throws -> Lease {
        let leases = try await take(number)
        return try #require(leases.first)
    }

    private func settle(_ lease: Lease, _ settlement: Settlement) async throws {
        _ = try await fixture.outbox.settle([(lease, settlement)], taking: nil)
    }

    @Test(
        "until a lease ends, no one else gets the device; then another courier can take it, which counts as an attempt")
    func ends() async throws {
        try await fixture.addPhone()
        #expect(try await takeOne(1).attempts == 1)
        fixture.time.advance(by: .milliseconds(59_999))
        #expect(try await take(2).isEmpty)
        fixture.time.advance(by: .milliseconds(1))
        #expect(try await takeOne(3).attempts == 2)
    }

    @Test(
        "a holder that lost its lease leaves the device's place to the new one, whatever the push's outcome",
        arguments: [
            Settlement.later(.zero), .returned, .accepted, .refused(reason: "PayloadTooLarge"),
        ])
    func lost(settlement: Settlement) async throws {
        try await fixture.addPhone(waiting: 3)
        let first = try await takeOne(1)
        fixture.time.advance(by: .seconds(60))
        let second = try await takeOne(2)
        #expect(second.entry == first.entry)
        try await settle(first, settlement)
        #expect(try await take(3).isEmpty, "two would send to one device")
        try await settle(second, .later(.zero))
        #expect(try await takeOne(4).number == 4)
    }

    @Test(
        "a newer push waits for a holder whose push was settled by an earlier holder, even if the queue was empty meanwhile",
        arguments: [Settlement.accepted, .refused(reason: "PayloadTooLarge")])
    func lostLast(settlement: Settlement) async throws {
        let phone = try await fixture.addPhone()
        let first = try await takeOne(1)
        fixture.time.advance(by: .seconds(60))
        let second = try await takeOne(2)
        try await settle(first, settlement)
        try await fixture.enqueue("newer", to: .device(phone.name))
        #expect(try await take(3).isEmpty, "the second holder may still send the older push")
        try await settle(second, .accepted)
        #expect(try await takeOne(4).entry > second.entry)
    }

    @Test("leases are numbered consecutively, whatever happens to other devices' pushes", .inDatabases) func numbers()
        async throws
    {
        for name in ["d0", "d1", "d2"] {
            try await fixture.addDevice(name)
            try await fixture.enqueue(to: .device(DeviceName(parsing: name)!))
            fixture.time.advance(by: .seconds(1))
        }
        try await fixture.execute("UPDATE entries SET send_until = 0 WHERE id = (SELECT MIN(id) FROM entries)")
        #expect(try await take(5, count: 3).map(\.number) == [5, 6])
    }

    @Test("a queue is due at an impossible time, too", .inDatabases, arguments: [Int64.min, .max, 253_402_300_800_000])
    func impossibleTime(due: Int64) async throws {
        try await fixture.addPhone()
        try await fixture.execute("UPDATE queues SET due = \(due)")
        #expect(try await take(1).count == 1)
    }

    @Test("a lease is extended by its holder, but not by a holder that lost it") func extended() async throws {
        try await fixture.addPhone()
        let first = try await takeOne(1)
        _ = try await fixture.outbox.settle([], extending: [first], by: .seconds(120), taking: nil)
        fixture.time.advance(by: .milliseconds(119_999))
        #expect(try await take(2).isEmpty)
        fixture.time.advance(by: .milliseconds(1))
        _ = try await takeOne(3)
        _ = try await fixture.outbox.settle([], extending: [first], by: .seconds(3_600), taking: nil)
        fixture.time.advance(by: .seconds(60))
        #expect(try await take(4).count == 1)
    }

    @Test("a returned push doesn't count as an attempt, a failed one does, and the next entry starts anew")
    func attempts() async throws {
        try await fixture.addDevice("phone")
        let soon = fixture.now.advanced(bySeconds: 30)
        try await fixture.enqueue("soon", to: .device("phone"), expiration: soon)
        try await fixture.enqueue("later", to: .device("phone"))
        try await settle(takeOne(1), .returned)
        try await settle(takeOne(2), .later(.seconds(5)))
        #expect(try await take(3).isEmpty)
        fixture.time.advance(by: .seconds(5))
        let third = try await takeOne(4)
        #expect(third.attempts == 2)
        try await settle(third, .later(.seconds(60)))
        fixture.time.advance(by: .seconds(60))
        #expect(try await takeOne(5).attempts == 1, "the first has expired, and the second was never tried")
    }

    @Test("an entry is sent until its expiration, but not at it", .inDatabases) func expired() async throws {
        try await fixture.addDevice("phone")
        let expiration = fixture.now.advanced(bySeconds: 30)
        try await fixture.enqueue(to: .device("phone"), expiration: expiration)
        let end = try await entry("send_until")
        fixture.time.advance(by: .milliseconds(end - fixture.time.now - 1))
        try await settle(takeOne(1), .returned)
        fixture.time.advance(by: .milliseconds(1))
        #expect(try await take(2).isEmpty)
        #expect(try await fixture.outbox.status().outcomes == ["expired": 1])
    }

    @Test("an entry deferred further than any delay was deferred before the clock was set back, and is due")
    func setBack() async throws {
        try await fixture.addPhone()
        try await settle(takeOne(1), .later(.seconds(3_600)))
        fixture.time.advance(by: .seconds(-23 * 3_600))
        #expect(try await take(2).isEmpty)
        fixture.time.advance(by: .milliseconds(-1))
        #expect(try await take(3).count == 1)
    }

    @Test("while a push is leased, neither a new token nor a purge lets another one be taken")
    func heldAgainstOthers() async throws {
        try await fixture.addDevice("phone")
        try await fixture.enqueue(to: .device("phone"), expiration: fixture.now.advanced(bySeconds: 10))
        _ = try await takeOne(1)
        try await fixture.outbox.setAddress(Fixture.address("new"), of: "phone", at: fixture.now)
        #expect(try await take(2).isEmpty)
        fixture.time.advance(by: .seconds(20))
        #expect(try await fixture.outbox.purge(.expired) == 1)
        try await fixture.enqueue("more", to: .device("phone"))
        #expect(try await take(3).isEmpty)
        fixture.time.advance(by: .seconds(40))
        #expect(try await take(4).count == 1)
    }

    @Test("a device stays in the immediate lane while an immediate push waits for it", .withAlerts) func lane()
        async throws
    {
        for name in ["first", "second"] { try await fixture.addDevice(name) }
        try await fixture.enqueue(to: .device("first"))
        try await fixture.enqueue(to: .device("first"), priority: .considerate)
        fixture.time.advance(by: .seconds(1))
        try await fixture.enqueue(to: .device("second"))
        #expect(try await takeOne(1).request.address == Fixture.address("first"))
    }

    @Test("a tampered entry that no sealer makes is rejected, and the others are sent", .inDatabases)
    func strangeEntries() async throws {
        let changes = [
            "apns_id = 'short'", "apns_id = upper(apns_id)", "apns_id = substr(apns_id, 1, 35) || '\n'",
            "apns_id = substr(apns_id, 1, 35)", "apns_id = apns_id || '0'",
            "apns_id = replace(apns_id, '-', '0')", "collapse_id = 'a b'", "collapse_id = 'x\r\nevil: 1'",
            "collapse_id = 'é'", "collapse_id = ''", "collapse_id = '\(String(repeating: "c", count: 65))'",
            StoreKind.current == .sqlite ? "body = zeroblob(4097)" : "body = convert_to(repeat('a', 4097), 'UTF8')",
        ]
        for (number, change) in changes.enumerated() {
            try await fixture.addDevice("d\(number)")
            try await fixture.enqueue(to: .device(DeviceName(parsing: "d\(number)")!))
            let id = try await entry("MAX(id)")
            try await fixture.execute("UPDATE entries SET \(change) WHERE id = \(id)")
            #expect(try await take(Int64(number) * 10).isEmpty, "\(change)")
        }
        #expect(try await fixture.outbox.status().deadLetters == ["malformed": changes.count])
    }

    // PostgreSQL refuses such a row.
    @Test(
        "a tampered enqueueing time has no effect", .inFile, arguments: [Int64.min, -1, .max])
    func strangeTimes(_ time: Int64) async throws {
        try await fixture.addPhone()
        try await fixture.execute("UPDATE entries SET enqueued = \(time)")
        let report = try await fixture.deliver(until: .empty)
        #expect(report.acceptedCount == 1)
    }

    @Test("a queue with a tampered, extremely early due time is due", .inDatabases) func beforeAllTime() async throws {
        try await fixture.addPhone()
        try await fixture.execute("UPDATE queues SET due = -9223372036854775807")
        let time = try #require(try await fixture.outbox.store.timeUntilDue(by: .apns()))
        #expect(time < .zero)
        #expect(try await take(1).count == 1)
    }

    private func entry(_ expression: String) async throws -> Int64 {
        try #require(try await fixture.number("SELECT \(expression) FROM entries"))
    }
}
