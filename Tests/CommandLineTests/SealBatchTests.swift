import Foundation
import PushSender
import SealedPush
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

@Suite("sealedpush seal --batch", .blocking) struct SealBatchTests {
    private let content: [String: [String: String]] = ["alert": ["title": "Nina", "body": "kumquat"]]
    private let batch = [
        "seal", "--batch", "-", "--from", "newsroom", "--topic", SendingFixture.topic, "--keyring", "Keys",
    ]

    private func line(_ members: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
    }

    @Test(
        "seals each line to a key or to a record from a database, and reports an error in place of each bad line")
    func lines() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let shown = { (words: String...) in
            try fixture.run(["keys", "export", "alice-phone", "--keyring", "Keys"] + words).trimmed
        }
        let (key, record) = (try shown(), try shown("--record"))
        let enrollment = try DeviceRecord(parsing: record).enrollment.description
        let database: [String: Any] = ["record": record, "enrollment": enrollment, "content": content]
        let lines: [([String: Any], Int, String)] = [
            (["recipient": key, "unverified": true, "content": content], 200, "kept"),
            (database.merging(["proven": [key]]) { $1 }, 200, "kept"),
            (database.merging(["proven": [String]()]) { $1 }, 409, "unproven"),
            (["recipient": key, "content": content], 409, "unverified"),
            (["device": "alice-phone", "content": content], 400, "malformed"),
            (["recipient": key, "unverified": true, "content": ["alert": "kumquat"]], 422, "invalid-content"),
        ]
        let input = try lines.map { try line($0.0) }.joined(separator: "\n") + "\n \t\nno JSON\n"
        let result = try fixture.run(batch, input: input)
        #expect(result.status == 65 && result.errors.contains("not sealed: 5"), "\(result.errors)")
        #expect(result.objects.map { $0["status"] as? Int } == lines.map { $0.1 } + [400])
        #expect(result.objects.map { $0["line"] as? Int } == [1, 2, 3, 4, 5, 6, 8])
        for (answer, line) in zip(result.objects, lines) where line.1 != 200 {
            #expect(answer["code"] as? String == line.2, "\(answer)")
        }
        #expect(result.objects[0]["recipient"] as? String == key && result.objects[1]["recipient"] as? String == key)
        #expect((result.objects[5]["detail"] as? String)?.contains(#"such as {"title":"#) == true)
        #expect(!result.output.contains("kumquat"))
        let payload = try #require(result.objects[1]["payload"] as? String)
        let push = try fixture.folder.write(payload, to: "push.apns")
        let open = ["open", push, "--device", "alice-phone", "--trust", "newsroom", "--topic", SendingFixture.topic]
        let opened = try fixture.run(open + ["--keyring", "Keys"])
        #expect(opened.output.contains("kumquat"), "\(opened.errors)")
        // A record must be imported first if a name is expected.
        let to = ["--topic", SendingFixture.topic, "--keyring", "Keys", "--to", record]
        let refused = try fixture.run(["seal", fixture.content, "--from", "newsroom"] + to)
        #expect(refused.status == 64 && refused.errors.contains("`sealedpush keys import`"), "\(refused.errors)")
        #expect(!refused.errors.contains(record))
        let good = try fixture.run(batch + ["--unverified"], input: line(["recipient": key, "content": content]))
        #expect(good.status == 0 && good.objects.count == 1)
    }

    @Test("leaves the requested bytes of the payload free, for one message and for many")
    func reserve() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("alice-phone")
        let long = try line(["alert": ["body": String(repeating: "x", count: 8_000)]])
        let file = try fixture.folder.write(long, to: "long.json")
        let to = ["--to", "alice-phone", "--unverified", "--from", "newsroom", "--topic", SendingFixture.topic]
        let one = ["seal", file, "--keyring", "Keys", "--json", "--fit", "truncate"] + to
        for reserve in [0, 6, 1_024] {
            let sealed = try fixture.run(one + ["--reserve", String(reserve)])
            let byteCount = sealed.objects.first?["payloadBytes"] as? Int ?? 0
            #expect((4_096 - reserve - 4...4_096 - reserve).contains(byteCount), "\(byteCount) \(sealed.errors)")
            let key = DevicePrivateKey().recipient.description
            let many = try fixture.run(
                batch + ["--reserve", String(reserve), "--fit", "truncate"],
                input: #"{"recipient":"\#(key)","unverified":true,"content":\#(long)}"#)
            #expect(many.objects.first?["payloadBytes"] as? Int == byteCount, "\(many.output.prefix(300))")
        }
        for words in [["--reserve", "1025"], ["--reserve", "-1"], ["--batch"], ["--output", "x", "--batch"]] {
            #expect(try fixture.run(one + words).status == 64)
        }
        #expect(try fixture.run(Array(one.dropLast(5))).status == 64)
    }

    @Test("keeps one context per recipient, and gives each message its own number")
    func contexts() async throws {
        let fixture = try await SendingFixture()
        let recipient = DevicePrivateKey().recipient.description
        let lines = try (1...3).map { _ in
            try line(["recipient": recipient, "unverified": true, "content": content])
        }.joined(separator: "\n")
        let sealed = try fixture.run(batch, input: lines)
        let envelopes = try sealed.objects.map { try SendingFixture.envelope($0["payload"]) }
        #expect(Set(envelopes.map(\.enc)).count == 1, "\(sealed.errors)")
        #expect(Set(envelopes.compactMap(\.number)).count == 3)
    }
}
