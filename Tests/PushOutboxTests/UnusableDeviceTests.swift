import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushOutbox

/// Tests an attacker who can write the devices' rows, and tries to add a device that nobody sees.
@Suite("Devices' rows that aren't valid", .overDatabases) struct UnusableDeviceTests {
    private let fixture: Fixture

    init() async throws { fixture = try await Fixture() }

    /// A change of a device's row.
    struct Alteration: Sendable, CustomTestStringConvertible {
        let column: String
        let bytes: [UInt8]
        /// Whether the tables' checks refuse it in SQLite. PostgreSQL's refuse each one that it can represent.
        var isChecked = true
        /// The name as it is shown.
        var shown: String?

        init(_ column: String, _ text: String, shown: String? = nil) {
            (self.column, bytes, self.shown) = (column, Array(text.utf8), shown)
        }

        init(_ column: String, bytes: [UInt8], isChecked: Bool = true, shown: String? = nil) {
            (self.column, self.bytes, self.isChecked, self.shown) = (column, bytes, isChecked, shown)
        }

        var testDescription: String { "\(column) \(shown ?? Hex.encode(bytes))" }

        var isText: Bool { !["token", "recipient"].contains(column) }
        var isInPostgres: Bool { !isText || String(strictUTF8: bytes).map { !$0.contains("\0") } ?? false }

        func statement(of name: String) -> String {
            let hex = Hex.encode(bytes)
            let isFile = StoreKind.current == .sqlite
            let value =
                switch (isFile, isText) {
                case (true, true): "CAST(x'\(hex)' AS TEXT)"
                case (true, false): "x'\(hex)'"
                case (false, true): "convert_from('\\x\(hex)', 'UTF8')"
                case (false, false): "'\\x\(hex)'::bytea"
                }
            let column = column == "user" && !isFile ? "user_name" : column
            return "UPDATE devices SET \(column) = \(value) WHERE name = '\(name)'"
        }
    }

    private static let names: [Alteration] = ["name", "user"].flatMap { column in
        [
            Alteration(column, "", shown: ""), Alteration(column, "a\u{7}b", shown: #"a\u{7}b"#),
            Alteration(column, "d0\n", shown: #"d0\u{a}"#), Alteration(column, "\u{9f}x", shown: #"\u{9f}x"#),
            Alteration(column, "d\u{1b}[2J", shown: #"d\u{1b}[2J"#), Alteration(column, " ", shown: #"\u{20}"#),
            Alteration(column, "\u{200b}", shown: #"\u{200b}"#),
            Alteration(column, "\u{3164}\u{e0041}", shown: #"\u{3164}\u{e0041}"#),
            Alteration(column, String(repeating: "x", count: 129), shown: String(repeating: "x", count: 128) + "…"),
            Alteration(column, String(repeating: "é", count: 65), shown: String(repeating: "é", count: 64) + "…"),
            Alteration(column, bytes: [0x64, 0x30, 0x00], shown: #"d0\u{0}"#),
            Alteration(column, bytes: [0x64, 0x30, 0x00, 0x78], shown: #"d0\u{0}x"#),
            Alteration(column, bytes: [0x64, 0xff, 0x5c], isChecked: false, shown: #"d\xff\x5c"#),
        ]
    }

    private static let others: [Alteration] = [
        Alteration("topic", ""), Alteration("topic", "com.example app"), Alteration("topic", "com.example.äpp"),
        Alteration("topic", String(repeating: "x", count: 156)), Alteration("topic", bytes: [0x61, 0x00]),
        Alteration("token", bytes: []), Alteration("token", bytes: Array(repeating: 1, count: 1_025)),
        Alteration("token", bytes: Array(repeating: 1, count: 101), isChecked: false),
        Alteration("recipient", bytes: Array(repeating: 1, count: 31)),
        // The right length, and of low order.
        Alteration("recipient", bytes: Array(repeating: 0, count: 32), isChecked: false),
    ]

    @Test(
        "gets no message, is listed with escaped names, and can be removed by its number; the tables refuse it",
        arguments: names + others)
    func row(_ alteration: Alteration) async throws {
        guard StoreKind.current == .sqlite || alteration.isInPostgres else { return }
        for name in ["d0", "d1", "d2"] { try await fixture.addDevice(name) }
        let isChecked =
            StoreKind.current == .sqlite
            ? alteration.isChecked : alteration.isChecked || alteration.bytes.count == 101
        if isChecked {
            let fixture = fixture
            await #expect(throws: (any Error).self) { try await fixture.execute(alteration.statement(of: "d1")) }
        }
        try await fixture.enqueue("before", to: .everyone)
        try await fixture.executeUnchecked(alteration.statement(of: "d1"))

        if alteration.column != "name" {
            let fixture = fixture
            let error = await #expect(throws: OutboxError.damagedDevice("d1")) {
                try await fixture.outbox.setAddress(Fixture.address("new"), of: "d1", at: fixture.now)
            }
            // It's the same over PostgreSQL.
            #expect(error?.description.contains("file") == false)
        }

        let everyone = try await fixture.enqueue(to: .everyone)
        #expect(everyone.enqueuedCount == 2)
        #expect(everyone.skipped == (alteration.column == "topic" ? [:] : [.damaged: 1]))
        let user = try await fixture.enqueue(to: .user("anna"))
        #expect(user.enqueuedCount == 2 && user.skipped == (alteration.column == "user" ? [:] : [.damaged: 1]))

        let outbox = fixture.outbox
        #expect(try await outbox.devices().map(\.name) == ["d0", "d2"])
        #expect(try await outbox.devices(after: "d0", limit: 1).map(\.name) == ["d2"])
        let unusable = try await outbox.unusableDevices()
        #expect(unusable.map(\.reason) == [.damaged])
        let row = try #require(unusable.first)
        if alteration.column == "name" { #expect(row.name == alteration.shown) }
        if alteration.column == "user" { #expect(row.user == alteration.shown && row.name == "d1") }
        var (paged, after) = ([UnusableDevice](), DeviceName?.none)
        repeat {
            let page = try await outbox.listing(after: after, limit: 1)
            paged += page.unusable
            after = page.devices.last?.name
        } while after != nil
        #expect(paged == unusable)
        #expect(try await outbox.listing(of: "anna").unusable == (alteration.column == "user" ? [] : unusable))

        // What waits for it isn't sent, either.
        if ["name", "topic", "token"].contains(alteration.column) {
            let transport = ScriptedTransport()
            try await fixture.deliver(transport, until: .empty)
            #expect(transport.delivered.all.allSatisfy { $0.address != Fixture.address("d1") })
            #expect(try await outbox.status().deadLetters == ["malformed": 1])
        }

        let usable = try #require(try await fixture.number("SELECT id FROM devices WHERE name = 'd0'"))
        for other in [usable, row.row + 1_000, 0, -1, .min, .max] {
            await #expect(throws: OutboxError.unknownDevice) { try await outbox.remove(row: other) }
        }
        #expect(try await outbox.unusableDevice(row: row.row) == row)
        try await outbox.remove(row: row.row)
        #expect(try await outbox.unusableDevices().isEmpty)
        #expect(try await fixture.number("SELECT COUNT(*) FROM devices") == 2)
        #expect(try await outbox.devices().count == 2)
    }

    // PostgreSQL checks a row's name at each change, so only its owner can write such a row.
    @Test(
        "an address moves to its new owner from a device whose name isn't valid", .inFile,
        arguments: [Alteration("name", "a\u{7}b"), Alteration("name", bytes: [0x61, 0xff])])
    func takenAddress(alteration: Alteration) async throws {
        try await fixture.addDevice("d0")
        try await fixture.executeUnchecked(alteration.statement(of: "d0"))
        let address = Fixture.address("d0")
        try await fixture.addDevice("d1", address: address)
        #expect(try await fixture.outbox.device("d1")?.address.address == address)
    }

    @Test("a record that isn't valid makes its row listed, and the tables refuse other text")
    func records() async throws {
        let record = try fixture.record(of: [DevicePrivateKey().recipient], signedBy: EnrollmentPrivateKey())
        try await fixture.outbox.register(
            RegisteredDevice(
                name: "phone", user: "anna", topic: Fixture.topic,
                keys: .enrolled(try EnrolledDevice(pinning: record, topic: Fixture.topic, at: fixture.now)),
                address: .none(.apns(), reason: nil)))
        let fixture = fixture
        for change in ["record = 'x'", "record = ''", "enrollment = 'É'", "proven = 'É'"] {
            await #expect(throws: (any Error).self, "\(change)") {
                try await fixture.execute("UPDATE enrollments SET \(change)")
            }
        }
        try await fixture.execute("UPDATE enrollments SET record = 'pushrecord.AAAA'")
        #expect(try await fixture.outbox.devices().isEmpty)
        #expect(try await fixture.outbox.unusableDevices().map(\.name) == ["phone"])
        await #expect(throws: OutboxError.damagedDevice("phone")) { try await fixture.outbox.device("phone") }
        await #expect(throws: OutboxError.damagedDevice("phone")) {
            try await fixture.outbox.accept(record, of: "phone", at: fixture.now)
        }
        try await fixture.outbox.remove("phone")
        #expect(try await fixture.outbox.unusableDevices().isEmpty)
    }

    @Test("errors that both stores have don't mention a file") func words() {
        for error in [OutboxError.damaged, .foreign, .otherSchema, .damagedDevice("phone"), .forged("phone")] {
            #expect(!error.description.contains("file"), "\(error)")
        }
    }

    @Test("many rows are all found, whatever their numbers") func many() async throws {
        try await fixture.addDevices(0..<1_100)
        try await fixture.executeUnchecked("UPDATE devices SET topic = '' WHERE name <> 'd5'")
        #expect(try await fixture.outbox.unusableDevices().count == 1_099)
        #expect(try await fixture.outbox.devices(limit: 5).map(\.name) == ["d5"])
        #expect(try await fixture.outbox.listing(after: nil, limit: 5).unusable.count == 1_000)
    }

    @Test("every name that Swift allows is stored, and no other one is, at each border of what is visible")
    func borders() async throws {
        guard Fixture.key == nil else { return }
        try await fixture.addDevice("d0")
        let borders = VisibleText.invisible.flatMap { range in
            [range.lowerBound &- 1, range.lowerBound, range.upperBound, range.upperBound + 1]
        }
        for scalar in Set(borders).compactMap(Unicode.Scalar.init).sorted() where scalar.value > 0 {
            // SQLite reads them as U+FFFD.
            guard StoreKind.current == .postgres || scalar.value & 0xffff_fffe != 0xfffe else { continue }
            let alteration = Alteration("user", String(Character(scalar)))
            let isAllowed = UserName(parsing: String(Character(scalar))) != nil
            let isStored = (try? await fixture.execute(alteration.statement(of: "d0"))) != nil
            #expect(isStored == isAllowed, "U+\(String(scalar.value, radix: 16))")
        }
    }
}
