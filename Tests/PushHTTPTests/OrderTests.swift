import Foundation
import HTTPTypes
import Hummingbird
import PushOutbox
import PushSender
import SealedPush
import TestSupport
import Testing

@testable import PushHTTP

@Suite("Orders") struct OrderTests {
    private let topic: Topic = "com.example.app"
    private let sender = SenderPrivateKey()
    private let phone = DevicePrivateKey()
    private let enrollmentKey = EnrollmentPrivateKey()

    /// A word that occurs only in a message's texts.
    private static let marker = "kumquat"

    private func lines() throws -> [[UInt8]] {
        let now = Timestamp.now()
        let record = try DeviceRecord(
            of: [phone.recipient], topic: topic, counter: 1, created: now, expires: now.advanced(bySeconds: 86_400),
            signedBy: enrollmentKey)
        let key = phone.recipient.description
        let whole: [String: Any] = [
            "alert": ["title": Self.marker, "body": "\u{1F4A1} \"\(Self.marker)\" \\ \u{0301}"], "badge": 3,
            "data": ["a": [1, 2.5, NSNull(), true], "b": ["c": Self.marker]], "expires": now.secondsSince1970 + 600,
            "threadIdentifier": Self.marker, "interruptionLevel": "active", "relevanceScore": 0.5,
        ]
        let orders: [[String: Any]] = [
            ["recipient": key, "unverified": true, "content": ["alert": ["body": Self.marker]]],
            ["recipient": key, "unverified": true, "content": whole, "reserve": 100, "priority": "considerate"],
            [
                "record": record.description, "enrollment": enrollmentKey.enrollment.description, "proven": [key],
                "content": whole, "expiration": now.secondsSince1970 + 60,
            ], ["device": "phone", "content": whole],
        ]
        return try orders.map { Array(try JSONSerialization.data(withJSONObject: $0)) }
    }

    /// Fragments that change the meaning of a line.
    private static let parts: [String] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "\\ud800", "null", "true", "-0", "1e999", "1E400",
        "9223372036854775808", "-9223372036854775809", "0.1e-7", "\u{0}", "\u{FEFF}", "\u{202E}", "\u{E0041}", "\n",
        "\r",
        "\"content\":", "\"reserve\":-1,", "\"reserve\":4096,", "\"expiration\":1e3,", "\"unverified\":1,",
        "\"proven\":[",
        "\"alert\":{", "\"attachments\":[{", String(repeating: "[", count: 40), String(repeating: "9", count: 400),
    ]

    private func altered(_ line: [UInt8], by others: [[UInt8]], using random: inout SeededGenerator) -> [UInt8] {
        var line = line
        for _ in 0..<[1, 1, 1, 2, 4].randomElement(using: &random)! {
            let at = Int.random(in: 0...line.count, using: &random)
            let end = min(line.count, at + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0..<9, using: &random) {
            case 0 where at < line.count: line[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            // Most of these are letters of a text, and leave a valid line.
            case 7..., 0:
                line.replaceSubrange(
                    at..<min(line.count, at + 1), with: [UInt8.random(in: 0x30...0x7a, using: &random)])
            case 1: line.removeSubrange(at..<end)
            case 2: line.insert(contentsOf: Self.parts.randomElement(using: &random)!.utf8, at: at)
            case 3: line.replaceSubrange(at..<end, with: Self.parts.randomElement(using: &random)!.utf8)
            case 4: line.insert(contentsOf: random.bytes(end - at), at: at)
            case 5:
                let other = others.randomElement(using: &random)!
                line.replaceSubrange(at..., with: other[Int.random(in: 0...other.count, using: &random)...])
            default: line.insert(contentsOf: line[at..<end], at: at)
            }
        }
        return line
    }

    private func check(_ answer: [UInt8], _ isSealed: Bool, _ line: [UInt8], _ opener: Opener) throws {
        #expect(answer.last == 0x0a && !answer.dropLast().contains(0x0a))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(answer)) as? [String: Any])
        let status = try #require(object["status"] as? Int)
        #expect(answer.firstRange(of: Array(Self.marker.utf8)) == nil)
        guard isSealed else {
            #expect((400..<500).contains(status), "\(status) \(object)")
            #expect(object["code"] is String && object["detail"] is String)
            return
        }
        #expect(status == 200)
        let payload = try #require(object["payload"] as? String)
        #expect(payload.utf8.count <= 4_096)
        #expect(object["payloadBytes"] as? Int == payload.utf8.count)
        let members = try #require(try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any])
        let envelope = try Envelope(parsing: try #require(members[Envelope.fieldName] as? String))
        do throws(OpenError) { _ = try opener.open(envelope, at: .now()) } catch {
            // The order was sealed as requested, with an expiration in the past.
            #expect(error == .expired, "\(String(decoding: line, as: UTF8.self)): \(error)")
        }
    }

    @Test("an order's error has HTTP's number and phrase") func statuses() {
        let known: [HTTPResponse.Status] = [.badRequest, .conflict, .contentTooLarge, .unprocessableContent]
        #expect(OrderError.Status.allCases.map(\.rawValue) == known.map(\.code))
        #expect(OrderError.Status.allCases.map(\.title) == known.map(\.reasonPhrase))
    }

    @Test(
        "orders that are cut, altered, and recombined are sealed or refused as the caller's fault; no answer repeats a message",
        .blocking)
    func altered() throws {
        var random = SeededGenerator()
        let good = try lines()
        let sealer = Sealer(sender: sender, topic: topic, safeDefault: "New message")
        let batch = SealBatch(from: sealer, reserve: 0, isUnverifiedAllowed: false)
        let opener = Opener(
            topic: topic, keys: InMemoryKeyStore([DeviceKey(phone, created: .now().advanced(bySeconds: -60))]),
            trusting: [sender.sender])
        var counts: [Bool: Int] = [:]
        for round in 0..<Thoroughness.count(3_000, thorough: 300_000) {
            let first = good[round % good.count]
            let line = round < good.count ? first : altered(first, by: good, using: &random)
            var writer = JSONWriter()
            let isSealed = batch.answer(line, 1, to: &writer)
            counts[isSealed, default: 0] += 1
            try check(writer.bytes, isSealed, line, opener)
            // Orders for a service are parsed by the same rules.
            do { _ = try MessageOrder(try OrderReader.members(of: line)) } catch {
                #expect(Problem(error).status.code < 500)
            }
        }
        #expect(counts[true, default: 0] > 100 && counts[false, default: 0] > 1_000, "\(counts)")
        // With a byte order mark, as Windows editors write it.
        var writer = JSONWriter()
        #expect(batch.answer([0xef, 0xbb, 0xbf] + good[0], 1, to: &writer))
        #expect(!batch.answer(Array(good[0].dropLast()), 2, to: &writer))
        #expect(
            String(decoding: writer.bytes, as: UTF8.self).contains("column \(good[0].count): the object is incomplete"))
        for count in good[2].indices {
            var writer = JSONWriter()
            #expect(!batch.answer(Array(good[2][..<count]), 1, to: &writer), "cut to \(count) bytes")
        }
    }
}
