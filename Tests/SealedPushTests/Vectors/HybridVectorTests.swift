import Foundation
import TestSupport
import Testing

@testable import PushCore
@testable import PushSender
@testable import SealedPush

@Suite("Tests/Vectors/Hybrid") struct HybridVectorTests {
    private let vectors: [NamedLines]

    init() throws { vectors = try NamedLines.all(in: "Hybrid") }

    @Test("Each push has the result that its file specifies") func outcomes() throws {
        var counts: [String: Int] = [:]
        for vector in vectors where vector["field"] != nil {
            let created = Timestamp(clamping: 1_700_000_000)
            let keys = try vector.numbered("identity").map {
                DeviceKey(try DevicePrivateKey(parsing: $0), created: created)
            }
            let opener = Opener(
                topic: Exchange.topic, keys: InMemoryKeyStore(keys),
                trusting: try vector.numbered("sender").map { try SenderPublicKey(parsing: $0) })
            let now = Timestamp(clamping: try vector.number("now"))
            let outcome = try vector.required("outcome")
            counts[outcome, default: 0] += 1
            guard let envelope = try? Envelope(parsing: try vector.required("field")) else {
                #expect(outcome == "malformed", "\(vector.testDescription)")
                continue
            }
            switch Result(catching: { () throws(OpenError) in try opener.open(envelope, at: now) }) {
            case .success(let opened):
                #expect(outcome == "opened", "\(vector.testDescription)")
                #expect(opened.recipient.description == vector["recipient"], "\(vector.testDescription)")
                #expect(Hex.encode(opened.ledgerKey) == vector["ledger-key"], "\(vector.testDescription)")
                #expect(
                    try opened.content == Content(opening: Array(try vector.required("content").utf8)),
                    "\(vector.testDescription)")
            case .failure(let error): #expect(outcome == error.rawValue, "\(vector.testDescription)")
            }
        }
        #expect(counts == ["opened": 7, "malformed": 2, "unknown-recipient": 6, "unknown-sender": 1, "rejected": 8])
    }

    @Test("With a case's own randomness, sealing yields its bytes and every intermediate value")
    func innerValues() throws {
        var caseCount = 0
        for vector in vectors where vector["outcome"] == "opened" {
            caseCount += 1
            func bytes(_ name: String) throws -> [UInt8] { try #require(Hex.decode(try vector.required(name))) }
            let recipient = try DevicePublicKey(parsing: try vector.required("recipient"))
            let sender = try SenderPrivateKey(secret: try bytes("sender-secret"))
            let (ephemeral, psk) = (try bytes("ephemeral-secret"), try bytes("psk"))
            let info = EnvelopeInfo(topic: Exchange.topic).hybrid(try bytes("psk-id"))
            func context() -> HPKEContext {
                WipedBytes(count: 32) { $0.copyBytes(from: psk) }.withBytes { psk in
                    HPKEContext(
                        sendingTo: recipient.x25519, from: sender.x25519, info: info,
                        ephemeral: WipedBytes(count: 32) { $0.copyBytes(from: ephemeral) }, psk: psk)
                }
            }
            let number = try bytes("number").withUnsafeBytes { HPKENumber($0) }
            let hpke = context()
            #expect(Hex.encode(hpke.enc) == vector["enc"], "\(vector.testDescription)")
            hpke.withKeyAndNonce(number) { key, nonce in
                #expect(Hex.encode(Array(key)) == vector["key"], "\(vector.testDescription)")
                #expect(Hex.encode(Array(nonce)) == vector["nonce"], "\(vector.testDescription)")
            }
            let sealed = SealingContext(context(), to: recipient, from: sender.sender, suite: .hybrid)
                .seal(try bytes("plaintext"), number: number)
            #expect(sealed.text == vector["field"], "\(vector.testDescription)")
            #expect(Hex.encode(Array(sealed.headerBytes)) == vector["aad"], "\(vector.testDescription)")
        }
        #expect(caseCount == 7)
    }

    @Test("Records are accepted and created again, or malformed: an oversized coefficient, or a seventh hybrid key")
    func records() throws {
        let good = vectors.filter { $0["outcome"] == "accepted" }
        let bad = vectors.filter { $0["outcome"] == "malformed" && $0["record"] != nil }
        #expect(good.map { $0.numbered("key").count }.sorted() == [2, 6] && bad.count == 2)
        for vector in good {
            let record = try DeviceRecord(parsing: try vector.required("record"))
            #expect(record.keeps == 3, "\(vector.testDescription)")
            #expect(record.recipients.map(\.description) == vector.numbered("key"), "\(vector.testDescription)")
            let again = try DeviceRecord(
                of: record.recipients, topic: record.topic, counter: record.counter, created: record.created,
                expires: record.expires, keeps: 3,
                signedBy: try EnrollmentPrivateKey(parsing: try vector.required("signer-secret")))
            #expect(again == record, "\(vector.testDescription)")
        }
        for vector in bad {
            #expect(deviceRefusal(try vector.required("record")) == .malformed, "\(vector.testDescription)")
        }
    }

    @Test("A challenge is answered") func challenges() throws {
        let challenge = try #require(vectors.first { $0["outcome"] == "answered" })
        let identity = try DevicePrivateKey(parsing: try challenge.required("identity"))
        let answer = try Challenge.answer(
            try challenge.required("challenge"),
            enrollment: try EnrollmentPublicKey(parsing: try challenge.required("enrollment")), topic: Exchange.topic,
            keys: InMemoryKeyStore([DeviceKey(identity, created: Exchange.now)]),
            trusting: [try SenderPublicKey(parsing: try challenge.required("sender"))])
        #expect(answer == challenge["answer"])
    }
}
