import Foundation
import PushSender
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox

/// Tests payloads from an attacker who can enqueue, or write the database.
@Suite("The form of a payload") struct PayloadFormTests {
    private static let alerts: [WireAlert] = [
        "You have a new message!", "\"\\\u{8}\t\n\u{c}\r\u{0}\u{1f}\u{7f}/ü𝄞\u{2028}",
        try! WireAlert(body: .plain("a")), ":\" ", "\\\"",
        try! WireAlert(title: .plain(":\" \u{200b}\""), body: .plain("[,")),
        try! WireAlert(title: .plain("{\"}"), subtitle: .plain("s"), body: .plain("[")),
        try! WireAlert(
            title: .localized(key: "t", arguments: ["one", "two"]), subtitle: .localized(key: "s"),
            body: .localized(key: "b", arguments: ["\""])),
        try! WireAlert(text: String(repeating: "x", count: 1_000)),
    ]

    @Test("every payload that a sealer writes is sent, and PostgreSQL stores it") func sealed() async throws {
        let database = try await Self.database()
        let recipient = DevicePrivateKey().recipient
        for alert in Self.alerts {
            for padding in PaddingPolicy.allCases {
                for sealer in [
                    Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: alert, padding: padding),
                    Sealer(anonymousFor: Fixture.topic, safeDefault: alert, padding: padding),
                ] {
                    let payload = try sealer.seal(Content(body: "x"), toUnverified: recipient).json
                    #expect(PayloadForm.matches(payload), "\(alert)")
                    #expect(try await Self.isStored(payload, in: database) == "t", "\(alert)")
                }
            }
        }
        for isFiltered in [false, true] {
            let sealer = Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "d")
            let payload = try sealer.seal(
                Content(withdrawing: .thread("nina"), isFiltered: isFiltered), toUnverified: recipient)
            #expect(payload.isBackground == !isFiltered && PayloadForm.isBackground(payload.json) == !isFiltered)
            #expect(PayloadForm.matches(payload.json))
            #expect(try await Self.isStored(payload.json, in: database) == "t")
            let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(payload)) as? NSDictionary
            #expect(try JSONSerialization.jsonObject(with: Data(payload.json)) as? NSDictionary == encoded)
        }
    }

    /// `Tests/Vectors/Text/alerts.tsv`: whether a queue accepts an alert, and the alert.
    static let alertVectors: [(isAllowed: Bool, alert: String)] = {
        let file = Checkout.folder.appending(path: "Tests/Vectors/Text/alerts.tsv")
        return (try? Checkout.text(file))?.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            return (parts[0] == "allowed", String(parts[1]))
        } ?? []
    }()

    @Test("Swift and PostgreSQL accept exactly the alerts that the vectors allow") func alerts() async throws {
        let vectors = Self.alertVectors
        #expect(vectors.count == 98 && vectors.count(where: \.isAllowed) == 22)
        let database = try await Self.database()
        for (isAllowed, alert) in vectors {
            let payload = Array(Self.good.replacing("\"Grüße\"", with: alert).utf8)
            #expect(PayloadForm.matches(payload) == isAllowed, "\(alert)")
            #expect(try await Self.isStored(payload, in: database) == (isAllowed ? "t" : "f"), "\(alert)")
        }
    }

    @Test("Swift and PostgreSQL agree about text of each scalar at the border of what is visible") func borders()
        async throws
    {
        let database = try await Self.database()
        let borders = VisibleText.invisible.flatMap { range in
            [range.lowerBound &- 1, range.lowerBound, range.upperBound, range.upperBound + 1]
        }
        let scalars = Set(borders).compactMap(Unicode.Scalar.init).sorted()
        #expect(scalars.count > 150)
        for scalar in scalars where scalar.value >= 0x20 && scalar != "\"" && scalar != "\\" {
            let payload = Array(Self.good.replacing("Grüße", with: String(Character(scalar))).utf8)
            let isVisible = VisibleText.isVisible(scalar)
            #expect(PayloadForm.matches(payload) == isVisible, "\(scalar.value)")
            #expect(try await Self.isStored(payload, in: database) == (isVisible ? "t" : "f"), "\(scalar.value)")
        }
        // Invalid UTF-8, which PostgreSQL doesn't even take.
        for bytes: [UInt8] in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x61, 0xff]] {
            let parts = Self.good.components(separatedBy: "Grüße").map { Array($0.utf8) }
            #expect(!PayloadForm.matches(parts[0] + bytes + parts[1]))
        }
    }

    @Test("each allowed alert makes the system run the extension") func runsExtension() throws {
        let folder = try TemporaryFolder()
        let sender = SenderPrivateKey()
        let device = SimulatedDevice(container: folder.appending("phone"))
        let standard = StandardConfiguration(
            topic: Fixture.topic.description, senders: [sender.sender.description], safeDefault: "safe default",
            allowsAnonymous: false)
        let recipient = try #require(try device.app(standard)?.enroll().recipients.first)
        let delivery = try #require(PushDelivery(inThisProcess: standard, device: device))
        let sealer = Sealer(sender: sender, topic: Fixture.topic, safeDefault: "Grüße")
        for (isAllowed, alert) in Self.alertVectors where isAllowed {
            let sealed = try sealer.seal(Content(body: "text"), toUnverified: recipient)
            let text = String(decoding: sealed.json, as: UTF8.self).replacing("\"Grüße\"", with: alert)
            let shown = try delivery.deliver(PushFile(parsing: Data(text.utf8)), identifier: sealed.collapseID)
            #expect(shown.outcome == .opened && shown.shown?.body == "text", "\(alert): \(shown.note ?? "")")
        }
    }

    private static let good = Fixture.sealedText
    private static let envelope = String(good.split(separator: "\"").dropLast().last ?? "")

    @Test("Swift and PostgreSQL accept exactly the payloads that the vectors allow") func payloads() async throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Tests/Vectors/Text/payloads.tsv"))
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count == 45)
        let database = try await Self.database()
        for line in lines {
            let parts = line.split(separator: "\t").map(String.init)
            let payload = Array(try JSONDecoder().decode(String.self, from: Data(parts[1].utf8)).utf8)
            #expect(PayloadForm.matches(payload) == (parts[0] == "allowed"), "\(line)")
            // PostgreSQL checks the size of a payload with its other columns.
            guard payload.count <= SizePlan.maximumPayloadByteCount else { continue }
            let isStored = try await Self.isStored(payload, in: database)
            #expect(isStored == (parts[0] == "allowed" ? "t" : "f"), "\(line)")
        }
    }

    @Test("PostgreSQL stores exactly the beginnings that an envelope of a known suite can have") func beginnings()
        async throws
    {
        let database = try await Self.database()
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/.:^"
        for first in "AB" {
            for second in letters {
                // Long enough for each suite.
                let envelope = "\(first)\(second)" + String(repeating: "A", count: 1_998)
                let payload = Self.good.replacing(Self.envelope, with: envelope)
                let suite = Base64URL.decode(Array("\(first)\(second)A".utf8))?[0]
                let isKnown = suite.map { Envelope.Suite(rawValue: $0) != nil } ?? false
                #expect(
                    try await Self.isStored(Array(payload.utf8), in: database) == (isKnown ? "t" : "f"),
                    "\(first)\(second)")
            }
        }
    }

    @Test("PostgreSQL stores an envelope exactly if Swift parses it, except that it doesn't check the encapsulated key")
    func vectors() async throws {
        let database = try await Self.database()
        let folder = Checkout.folder.appending(path: "Tests/Vectors")
        var fields: Set<String> = []
        for path in ["", "Hybrid"] {
            let files = try FileManager.default.contentsOfDirectory(
                at: folder.appending(path: path), includingPropertiesForKeys: nil)
            for file in files where file.pathExtension == "txt" {
                let lines = try Checkout.text(file).split(separator: "\n").filter { $0.hasPrefix("field: ") }
                fields.formUnion(lines.map { String($0.dropFirst("field: ".count)) })
            }
        }
        let good = fields.compactMap { try? Envelope(parsing: $0) }
        for suite in Envelope.Suite.allCases {
            let envelope = try #require(good.first { $0.suite == suite })
            for count in suite.overheadByteCount - 4...suite.overheadByteCount + 4 {
                let text = Base64URL.encode(Array(envelope.bytes.prefix(count)))
                fields.formUnion([text, text + "=", text + "==", text + "A"])
                fields.formUnion(["B", "E", "Q", "_"].map { text.dropLast() + $0 })
            }
        }
        #expect(fields.count > 400)
        var counts: [String: Int] = [:]
        for field in fields {
            let expected: String
            do {
                _ = try Envelope(parsing: field)
                expected = "t"
            } catch EnvelopeError.tooLong { continue } catch { expected = error == .unsafeEncapsulatedKey ? "t" : "f" }
            counts[expected, default: 0] += 1
            let payload = Array(Self.good.replacing(Self.envelope, with: field).utf8)
            #expect(try await Self.isStored(payload, in: database) == expected, "\(field)")
        }
        #expect(counts.values.allSatisfy { $0 > 100 }, "\(counts)")
    }

    @Test("an envelope that no device could open is not sent") func envelopes() {
        for envelope in ["AQ", String(Self.envelope.prefix(40)), Self.envelope.dropLast() + "_"] {
            #expect(!PayloadForm.matches(Array(Self.good.replacing(Self.envelope, with: envelope).utf8)), "\(envelope)")
        }
        let long = Self.good.replacing("Grüße", with: String(repeating: "x", count: 4_096))
        #expect(!PayloadForm.matches(Array(long.utf8)))
    }

    @Test(
        "a clear-text payload in the database becomes a dead letter, and the others are sent", .overUnkeyedDatabases)
    func delivered() async throws {
        let fixture = try await Fixture()
        for name in ["d0", "d1"] { try await fixture.addDevice(name) }
        try await fixture.enqueue(to: .everyone)
        let clear = #"{"aps":{"alert":"Your bank: call 555-0100"}}"#
        let body = StoreKind.current == .sqlite ? "CAST('\(clear)' AS BLOB)" : "convert_to('\(clear)', 'UTF8')"
        try await fixture.execute("UPDATE entries SET body = \(body) WHERE id = (SELECT MIN(id) FROM entries)")
        let transport = ScriptedTransport()
        let report = try await fixture.deliver(transport, until: .empty)
        #expect(report.refused == ["not-sealed": 1] && report.acceptedCount == 1)
        #expect(transport.delivered.all.allSatisfy { PayloadForm.matches($0.body) })
        #expect(try await fixture.outbox.status().deadLetters == ["not-sealed": 1])
    }

    private static func database() async throws -> PostgresServer.Database {
        try await StoreKind.$current.withValue(.postgres) { try await #require(Fixture().database) }
    }

    private static func isStored(_ payload: [UInt8], in database: PostgresServer.Database) async throws -> String? {
        let text = String(decoding: payload, as: UTF8.self).replacing("'", with: "''")
        let call =
            "SELECT sealed_push.are_sealed(ARRAY[convert_to('\(Fixture.sealedText)', 'UTF8'), convert_to('\(text)', 'UTF8')])"
        return try await database.run(call).first?.first.flatMap { $0 }
    }
}
