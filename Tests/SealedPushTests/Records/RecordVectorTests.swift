import Foundation
import TestSupport
import Testing

@testable import PushCore
@testable import PushSender
@testable import SealedPush

@Suite("Tests/Vectors/Records") struct RecordVectorTests {
    @Test("Each case has the result that its file specifies") func outcomes() throws {
        var counts: [String: Int] = [:]
        for vector in try NamedLines.all(in: "Records") {
            let outcome = try vector.required("outcome")
            counts[outcome, default: 0] += 1
            #expect(try found(vector) == outcome, "\(vector.testDescription)")
        }
        // Every code except those that need a broken key store, an answer, or a server's state.
        #expect(
            Set(counts.keys) == [
                "accepted", "answered", "malformed", "wrong-checksum", "wrong-type", "bad-signature", "foreign-signer",
                "other-topic", "not-yet-valid", "expired", "rolled-back", "conflicting", "unknown-recipient",
                "unknown-sender", "rejected", "foreign-enrollment", "unsupported",
            ])
        #expect(counts.values.reduce(0, +) == 138)
    }

    @Test("An accepted record is created again from its parts, byte for byte, unless it has unknown keys")
    func signing() throws {
        var caseCount = 0
        for vector in try NamedLines.all(in: "Records")
        where vector["outcome"] == "accepted" && vector["signer-secret"] != nil {
            caseCount += 1
            let (secret, keys) = (try vector.required("signer-secret"), vector.numbered("key"))
            let topic = try #require(Topic(parsing: try vector.required("topic")))
            let counter = try #require(UInt64(try vector.required("counter")))
            let created = Timestamp(clamping: try vector.number("created"))
            let expires = Timestamp(clamping: try vector.number("expires"))
            let keeps = Int(try vector.number("keeps"))
            func written<Role: ListedRole>(_: Role.Type) throws -> String {
                try SignedList<Role>(
                    of: try keys.map { try PublicKey<Role>(parsing: $0) }, topic: topic, counter: counter,
                    created: created, expires: expires, keeps: keeps,
                    signedBy: try PrivateKey<Role.Signer>(parsing: secret)
                ).description
            }
            let text = try vector["kind"] == "device" ? written(DeviceRole.self) : written(SenderRole.self)
            #expect(text == vector["record"], "\(vector.testDescription)")
            let bytes = try #require(Base64URL.decode(text.utf8.dropFirst(11)))
            let signed = Array("sealedpush/v1 record\0".utf8) + bytes[..<(bytes.count - 68)]
            #expect(Hex.encode(signed) == vector["signed"], "\(vector.testDescription)")
            #expect(Hex.encode(Array(bytes.suffix(68).prefix(64))) == vector["signature"], "\(vector.testDescription)")
        }
        #expect(caseCount == 18)
    }

    @Test("An answered challenge is created again from its random values, byte for byte") func asking() throws {
        var caseCount = 0
        for vector in try NamedLines.all(in: "Records") where vector["outcome"] == "answered" {
            caseCount += 1
            let recipient = try DevicePublicKey(parsing: try vector.required("recipient"))
            let enrollment = try EnrollmentPublicKey(parsing: try vector.required("asked-enrollment"))
            let sender = try SenderPrivateKey(parsing: try vector.required("sender-secret"))
            let topic = try #require(Topic(parsing: try vector.required("topic")))
            let hpke = HPKEContext(
                sendingTo: recipient.x25519, from: sender.x25519, info: Challenge.info(topic: topic).classical,
                ephemeral: try secret(vector, "ephemeral-secret"))
            #expect(Hex.encode(hpke.enc) == vector["enc"], "\(vector.testDescription)")
            hpke.withKeyAndNonce(HPKENumber(0)) { key, nonce in
                #expect(Hex.encode(Array(key)) == vector["key"], "\(vector.testDescription)")
                #expect(Hex.encode(Array(nonce)) == vector["base-nonce"], "\(vector.testDescription)")
            }
            let number = try #require(Hex.decode(try vector.required("number")))
            let challenge = PendingChallenge(
                to: recipient, of: enrollment, in: SealingContext(hpke, to: recipient, from: sender.sender),
                number: number.withUnsafeBytes { HPKENumber($0) }, random: try secret(vector, "random"),
                at: Exchange.now)
            #expect(challenge.text == vector["challenge"], "\(vector.testDescription)")
            try challenge.check(try vector.required("answer"), at: Exchange.now)
        }
        #expect(caseCount == 5)
    }

    @Test("A record that a fuzzer found is rejected: its signature's R is neutral, although the equation holds")
    func neutralPoint() throws {
        let file = Checkout.folder.appending(path: "Tests/Data/FuzzRegressions/fuzz-record/signature-with-neutral-r")
        // The first byte is the fuzzer's own.
        let text = String(decoding: try Data(contentsOf: file).dropFirst(), as: UTF8.self)
        #expect(throws: RecordError.badSignature) { try DeviceRecord(parsing: text) }
    }

    private func found(_ vector: NamedLines) throws -> String {
        let topic = try #require(Topic(parsing: try vector.required("topic")))
        switch try vector.required("kind") {
        case "device": return try found(vector, DeviceRole.self, topic)
        case "senders": return try found(vector, SenderRole.self, topic)
        default:
            // In the order of the file: newest first.
            let keys = try vector.numbered("identity").enumerated().map { index, text in
                DeviceKey(try DevicePrivateKey(parsing: text), created: Exchange.now.advanced(bySeconds: Int64(-index)))
            }
            let senders = try vector.numbered("sender").map { try SenderPublicKey(parsing: $0) }
            let enrollment = try EnrollmentPublicKey(parsing: try vector.required("enrollment"))
            let text = try vector.required("challenge")
            var answer: String?
            let refusal = refusal { () throws(ChallengeError) in
                answer = try Challenge.answer(
                    text, enrollment: enrollment, topic: topic, keys: InMemoryKeyStore(keys), trusting: senders)
            }
            #expect(answer == vector["answer"], "\(vector.testDescription)")
            return refusal?.rawValue ?? "answered"
        }
    }

    private func found<Role: ListedRole>(_ vector: NamedLines, _: Role.Type, _ topic: Topic) throws -> String {
        let (text, pinned) = (
            try vector.required("record"), try PublicKey<Role.Signer>(parsing: try vector.required("pinned"))
        )
        let known = try vector["known"].map { try SignedList<Role>(parsing: $0) }
        let now = Timestamp(clamping: try vector.number("now"))
        var record: SignedList<Role>?
        let refusal = refusal { () throws(RecordError) in
            record = try SignedList<Role>(parsing: text)
            try record?.check(pinned: pinned, topic: topic, replacing: known, at: now)
        }
        if refusal == nil, let record {
            #expect(record.description == text, "\(vector.testDescription)")
            #expect(record.keys.map(\.description) == vector.numbered("key"), "\(vector.testDescription)")
            #expect(record.hasUnknownKeys == (vector["signer-secret"] == nil), "\(vector.testDescription)")
        }
        return refusal?.rawValue ?? "accepted"
    }

    private func secret(_ vector: NamedLines, _ name: String) throws -> WipedBytes {
        let bytes = try #require(Hex.decode(try vector.required(name)))
        return WipedBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
    }
}
