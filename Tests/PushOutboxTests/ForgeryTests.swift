import Foundation
import PushCore
import PushSender
import PushSimulator
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// Tests an attacker who can write the database but doesn't have the outbox's key.
@Suite("Rows that can't be forged", .overUnkeyedDatabases) struct ForgeryTests {
    private let key = OutboxKey()
    private static let other = "'ffffffff-ffff-4fff-8fff-ffffffffffff'"

    private func fixture() async throws -> Fixture {
        try await Fixture.$key.withValue(key) {
            let fixture = try await Fixture()
            for name in ["d0", "d1"] { try await fixture.addDevice(name) }
            return fixture
        }
    }

    private func outbox(_ fixture: Fixture, _ key: OutboxKey?) async throws -> Outbox {
        try await Fixture.$key.withValue(key) { try await fixture.reopened() }
    }

    /// Returns a statement about a column in the other database's dialect.
    private func words(_ sql: String) -> String {
        guard StoreKind.current == .postgres else { return sql }
        return sql.replacingOccurrences(of: " user =", with: " user_name =")
            .replacing(/x'([0-9a-f]+)'/) { "'\\x\($0.1)'::bytea" }
            .replacingOccurrences(of: "is_verified = 1", with: "is_verified = true")
    }

    /// Changes the older of the first device's two entries.
    @Test("an entry that was altered in any column is not sent in that form; the others are sent")
    func entries() async throws {
        let first = "(SELECT MIN(id) FROM entries)"
        let alterations = [
            "body = x'7b7d'", "body = (SELECT body FROM entries WHERE id = (SELECT MAX(id) FROM entries))",
            "priority = 5", "expiration = 4000000000", "expiration = 0", "apns_id = \(Self.other)",
            "collapse_id = 'another'", "sender = NULL", "code = NULL", "code = x'7b7d'",
            "code = (SELECT code FROM entries WHERE id = (SELECT MAX(id) FROM entries))",
            "device = (SELECT MAX(id) FROM devices)", "send_until = 0", "enqueued = 0",
        ]
        for alteration in alterations {
            let fixture = try await fixture()
            for text in ["one", "two"] { try await fixture.enqueue(text, to: .everyone) }
            try await fixture.execute(words("UPDATE entries SET \(alteration) WHERE id = \(first)"))
            let transport = ScriptedTransport()
            let report = try await fixture.deliver(transport)
            let isHarmless = alteration.hasPrefix("send_until") || alteration.hasPrefix("enqueued")
            #expect(report.refused == (isHarmless ? [:] : ["forged": 1]), "\(alteration) over \(StoreKind.current)")
            #expect(report.acceptedCount == (alteration.hasPrefix("enqueued") ? 4 : 3), "\(alteration)")
            let status = try await fixture.outbox.status()
            // An entry that looked expired stays there until the purge.
            #expect(status.deadLetters.filter { $0.key != "expired" } == report.refused, "\(alteration)")
            #expect(status.waitingCount == 0, "\(alteration)")
        }
    }

    @Test("a push whose address was altered is not sent there") func addresses() async throws {
        for alteration in [
            "token = x'7b7d'", "address_code = NULL",
            "address_code = (SELECT address_code FROM devices WHERE name = 'd1')",
            "topic = 'com.example.other'", "name = 'd2'",
        ] {
            let fixture = try await fixture()
            try await fixture.enqueue(to: .everyone)
            try await fixture.execute(words("UPDATE devices SET \(alteration) WHERE name = 'd0'"))
            let transport = ScriptedTransport()
            let report = try await fixture.deliver(transport)
            #expect(report.refused == ["forged": 1], "\(alteration) over \(StoreKind.current)")
            #expect(transport.delivered.all.map(\.address) == [Fixture.address("d1")], "\(alteration)")
        }
    }

    @Test("a device that was altered in any column gets no push and is named; the others get theirs")
    func pins() async throws {
        let stranger = "x'\(Hex.encode(DevicePrivateKey().recipient.bytes))'"
        for alteration in [
            "recipient = \(stranger)", "recipient = (SELECT recipient FROM devices WHERE name = 'd1')",
            "user = 'berta'",
            "is_verified = 1", "valid_from = 1", "valid_until = 4000000000", "keeps = 31", "pin_code = NULL",
            "pin_code = x'7b7d'",
            "pin_code = (SELECT pin_code FROM devices WHERE name = 'd1')", "name = 'd2'",
        ] {
            let fixture = try await fixture()
            try await fixture.execute(words("UPDATE devices SET \(alteration) WHERE name = 'd0'"))
            let report = try await fixture.enqueue(to: .everyone)
            #expect(report.skipped == [.forged: 1], "\(alteration) over \(StoreKind.current)")
            #expect(report.enqueuedCount == 1, "\(alteration)")
        }
        // A changed registration is also detected when it is updated: registering can't make it valid.
        let fixture = try await fixture()
        try await fixture.execute(words("UPDATE devices SET recipient = \(stranger), user = 'berta' WHERE name = 'd0'"))
        #expect(try await fixture.outbox.unusableDevices().map(\.name) == ["d0"])
        await #expect(throws: OutboxError.forged("d0")) { try await fixture.outbox.device("d0") }
        // A column that a broadcast reads, and that doesn't match the device's record.
        try await fixture.execute("UPDATE devices SET valid_until = 4000000000 WHERE name = 'd1'")
        #expect(try await fixture.outbox.unusableDevices().map(\.name) == ["d0", "d1"])
        try await fixture.execute("UPDATE devices SET valid_until = \(Int64.max) WHERE name = 'd1'")
        #expect(try await fixture.outbox.devices().map(\.name) == ["d1"])
        await #expect(throws: OutboxError.forged("d0")) {
            try await fixture.outbox.setAddress(Fixture.address("new"), of: "d0", at: fixture.now)
        }
        try await fixture.outbox.remove("d0")
        try await fixture.addDevice("d0")
        #expect(try await fixture.enqueue(to: .everyone).enqueuedCount == 2)
    }

    @Test(
        "an altered enrollment or record is rejected",
        arguments: ["enrollment", "record", "proven", "code"])
    func enrollments(column: String) async throws {
        let fixture = try await fixture()
        let records = try (0..<2).map { _ in
            try fixture.record(of: [DevicePrivateKey().recipient], signedBy: EnrollmentPrivateKey())
        }
        for (number, record) in records.enumerated() {
            try await fixture.outbox.register(
                RegisteredDevice(
                    name: number == 0 ? "phone" : "other", user: "anna", topic: Fixture.topic,
                    keys: .enrolled(try EnrolledDevice(pinning: record, topic: Fixture.topic, at: fixture.now)),
                    address: .none(.apns(), reason: nil)))
        }
        try await fixture.outbox.accept(records[0], of: "phone", at: fixture.now)
        let other = "(SELECT \(column) FROM enrollments WHERE device = (SELECT id FROM devices WHERE name = 'other'))"
        let value = column == "proven" ? "'\(records[0].recipients[0])'" : other
        try await fixture.execute(
            "UPDATE enrollments SET \(column) = \(value) WHERE device = (SELECT id FROM devices WHERE name = 'phone')")
        // A record of another enrollment isn't a valid device.
        let error = await #expect(throws: OutboxError.self) {
            try await fixture.outbox.accept(records[0], of: "phone", at: fixture.now)
        }
        #expect(error == .forged("phone") || error == .damagedDevice("phone"))
    }

    @Test("an outbox with a key can be used only with that key, even for delivering") func keys() async throws {
        let fixture = try await fixture()
        try await fixture.enqueue(to: .everyone)
        let another = OutboxKey()
        for (key, expected) in [(nil, OutboxError.keyNeeded), (another, .otherKey)] {
            let outbox = try await outbox(fixture, key)
            await #expect(throws: expected) { try await fixture.enqueue(to: .everyone, in: outbox) }
            await #expect(throws: expected) {
                try await outbox.setAddress(Fixture.address("new"), of: "d0", at: fixture.now)
            }
            await #expect(throws: CourierError.outbox(expected)) { try await fixture.deliver(from: outbox) }
            // A list of unchecked devices would look verified wherever it is registered next.
            await #expect(throws: expected) { try await outbox.devices() }
            await #expect(throws: expected) { try await outbox.devices(of: "anna") }
            await #expect(throws: expected) { try await outbox.device("d0") }
        }
        #expect(try await fixture.deliver().acceptedCount == 2)
    }

    @Test("an outbox with rows can't be given a key, and one whose mark is missing or changed can't be used")
    func marks() async throws {
        let unkeyed = try await Fixture()
        try await unkeyed.addDevice("d0")
        let late = try await outbox(unkeyed, key)
        await #expect(throws: OutboxError.otherKey) { try await unkeyed.enqueue(to: .everyone, in: late) }
        for change in ["DELETE FROM marks", words("UPDATE marks SET mark = x'7b7d'")] {
            let fixture = try await fixture()
            try await fixture.enqueue(to: .everyone)
            try await fixture.outbox.requireWritable()
            let unprobed = try await outbox(fixture, key)
            try await fixture.enqueue(to: .everyone, in: unprobed)
            try await fixture.execute(change)
            await #expect(throws: OutboxError.otherKey, "\(change), while it is open") {
                try await fixture.outbox.requireWritable()
            }
            fixture.time.advance(by: .seconds(61))
            await #expect(throws: OutboxError.otherKey, "\(change), a minute ago") {
                try await fixture.enqueue(to: .everyone, in: unprobed)
            }
            let outbox = try await outbox(fixture, key)
            await #expect(throws: OutboxError.otherKey, "\(change)") {
                try await outbox.setAddress(Fixture.address("new"), of: "d0", at: fixture.now)
            }
            await #expect(throws: CourierError.outbox(.otherKey), "\(change)") {
                try await fixture.deliver(from: outbox)
            }
        }
    }

    @Test("text that is not a key is refused") func texts() {
        for text in ["", "sealed-push-outbox-key", "sealed-push-outbox-key AAAA", "pushoutbox 00"] {
            #expect(throws: OutboxError.keyText) { try OutboxKey(parsing: Array(text.utf8)) }
        }
    }

    /// Computed with Python's hashlib from the definition in Docs/Decisions/0040.
    @Test("codes match those that another implementation computes for the same rows") func knownAnswers() throws {
        let text = "sealed-push-outbox-key \(Base64URL.encode([UInt8](0..<32)))\n"
        let key = try OutboxKey(parsing: Array(text.utf8))
        let entry = EntryRow(
            priority: 10, expiration: nil, apnsID: "00000000-0000-4000-8000-000000000000", collapseID: "c",
            body: Array("{}".utf8), topic: "com.example.app", device: "phone", sender: "anonymous")
        #expect(Hex.encode(key.code(entry)) == "12c3e575657b57289fce8f6565edf4ed6c1022a3db3875962e3f92f6a17b0d8c")
        let device = RegisteredDevice(
            name: "phone", user: "anna", topic: "com.example.app",
            keys: .unverified(try DevicePublicKey(parsing: Self.recipient)),
            address: .active(.apns(DeviceToken(parsing: "aa11")!), registered: Timestamp(secondsSince1970: 1)!))
        let codes = key.codes(of: device)
        #expect(Hex.encode(codes.pin ?? []) == "705f5a3a715c0a1d97f57fad97760855b332dcf11693353a126cc8b4e9b2d521")
        #expect(Hex.encode(codes.address ?? []) == "d7c3c54ed3d6613e8d7d11b53d82a4995629aebf818266e861567f144050830a")
    }

    private static let recipient = "push1x56endjkd5mwg2fduh7vv8yel4reyvdlhvjtp3qdrd282sxwu3ksqhs462"
}
