import Foundation
import PushCore
import TestSupport
import Testing

@testable import PushSender
@testable import SealedPush

@Suite("Tests/Vectors") struct VectorTests {
    /// The field of a case, either on its own or within a whole payload; nil if it isn't a string.
    private func field(_ vector: NamedLines) throws -> String? {
        if let field = vector["field"] { return field }
        let payload = try JSONSerialization.jsonObject(with: Data(try vector.required("payload").utf8))
        return (payload as? [String: Any])?["custom-encrypted-message"] as? String
    }

    private func open(_ vector: NamedLines) throws -> Result<OpenedContent, OpenError> {
        let created = Timestamp(clamping: 1_700_000_000)
        let keys = try vector.numbered("identity").map {
            DeviceKey(try DevicePrivateKey(parsing: $0), created: created)
        }
        let opener = Opener(
            topic: try #require(Topic(parsing: try vector.required("topic"))), keys: InMemoryKeyStore(keys),
            trusting: try vector.numbered("sender").map { try SenderPublicKey(parsing: $0) },
            allowsAnonymous: vector["allow-anonymous"] == "yes")
        let now = Timestamp(clamping: try #require(Int64(try vector.required("now"))))
        let field = try field(vector)
        return Result { () throws(OpenError) in try opener.open(Envelope(field: field), at: now) }
    }

    @Test("Each case has the result that its file specifies") func outcomes() throws {
        let vectors = try NamedLines.all(in: "Vectors")
        var counts: [String: Int] = [:]
        for vector in vectors {
            let outcome = try vector.required("outcome")
            counts[outcome, default: 0] += 1
            switch try open(vector) {
            case .success(let opened):
                #expect(outcome == "opened", "\(vector.testDescription)")
                guard outcome == "opened" else { continue }
                let content = try Content(opening: Array(try vector.required("content").utf8))
                #expect(opened.content.alert == content.alert, "\(vector.testDescription)")
                #expect(opened.content.data == content.data, "\(vector.testDescription)")
                #expect(opened.content.other == content.other, "\(vector.testDescription)")
                #expect(opened.id == content.id, "\(vector.testDescription)")
                #expect(opened.sent == content.sent, "\(vector.testDescription)")
                if opened.sender != nil { #expect(opened.content == content, "\(vector.testDescription)") }
                #expect(Hex.encode(opened.ledgerKey) == vector["ledger-key"], "\(vector.testDescription)")
            case .failure(let code):
                #expect(outcome == code.rawValue, "\(vector.testDescription)")
            }
        }
        // Every code that needs neither a ledger nor a broken key store, several times.
        #expect(
            Set(counts.keys) == [
                "opened", "malformed", "unknown-suite", "unknown-recipient", "unknown-sender", "anonymous-not-allowed",
                "rejected",
                "malformed-content", "topic", "clock", "too-old", "expired",
            ])
        #expect(vectors.count == Self.caseCount, "a case was added or lost; update the number in this test")
    }

    @Test("With a case's own ephemeral key, sealing yields its bytes and every intermediate value")
    func innerValues() throws {
        var caseCount = 0
        for vector in try NamedLines.all(in: "Vectors") {
            guard vector["sender-secret"] != nil, let ephemeralText = vector["ephemeral-secret"] else { continue }
            caseCount += 1
            let secret = try #require(Hex.decode(ephemeralText))
            let ephemeral = WipedBytes(count: 32) { $0.copyBytes(from: secret) }
            let sender = try SenderPrivateKey(secret: try #require(Hex.decode(try vector.required("sender-secret"))))
            let envelope = try Envelope(parsing: try #require(try field(vector)))
            guard let number = envelope.number?.withUnsafeBytes({ HPKENumber($0) }) else { continue }
            let identities = try vector.numbered("identity").map { try DevicePrivateKey(parsing: $0) }
            // Several keys may match; use the one that opens it.
            let opened = try open(vector).get()
            let identity = try #require(identities.first { $0.recipient == opened.recipient })
            let topic = try #require(Topic(parsing: try vector.required("topic")))
            let context = HPKEContext(
                sendingTo: identity.recipient.x25519, from: sender.x25519,
                info: EnvelopeInfo(topic: topic).classical, ephemeral: ephemeral)
            #expect(Hex.encode(context.enc) == vector["enc"], "\(vector.testDescription)")
            context.withKeyAndNonce(number) { key, nonce in
                #expect(Hex.encode(Array(key)) == vector["key"], "\(vector.testDescription)")
                #expect(Hex.encode(Array(nonce)) == vector["nonce"], "\(vector.testDescription)")
            }
            context.withKeyAndNonce(HPKENumber(0)) {
                #expect(Hex.encode(Array($1)) == vector["base-nonce"], "\(vector.testDescription)")
            }
            let plaintext = try #require(Hex.decode(try vector.required("plaintext")))
            let sealed = SealingContext(context, to: identity.recipient, from: sender.sender)
                .seal(plaintext, number: number)
            #expect(sealed == envelope, "\(vector.testDescription)")
            #expect(Hex.encode(Array(sealed.headerBytes)) == vector["aad"], "\(vector.testDescription)")
            let ciphertext = try vector.required("ciphertext") + vector.required("tag")
            #expect(Hex.encode(Array(sealed.sealedBytes)) == ciphertext, "\(vector.testDescription)")
            let content = try Content(opening: Array(try vector.required("content").utf8))
            let message = try #require(content.id)
            let identifiers = ClearIdentifiers(sender: sender, topic: topic)
            let recipient = identity.recipient
            #expect(identifiers.apnsID(message: message, recipient: recipient) == vector["apns-id"])
            let collapseID = identifiers.collapseID(content.collapseID, message: message, recipient: recipient)
            #expect(collapseID == vector["apns-collapse-id"], "\(vector.testDescription)")
        }
        #expect(caseCount > 20)
    }

    @Test("Content that a fuzzer found is read, and reads the same again after writing") func foundContent() throws {
        let files = try Checkout.files(in: "Tests/Data/FuzzRegressions/fuzz-opening", ending: "").map { file in
            (file, try Data(contentsOf: file))
        }
        // The first byte selects the target's reader for the rest.
        let contents = files.filter { $0.1.first == 2 }
        #expect(contents.count == 2)
        for (file, bytes) in contents {
            guard let content = try? Content(parsing: Array(bytes.dropFirst())) else { continue }
            #expect(try Content(parsing: content.json) == content, "\(file.lastPathComponent)")
        }
    }

    private static let caseCount = 427
}
