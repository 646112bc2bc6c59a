import Crypto
import TestSupport
import Testing

@testable import PushCore
@testable import SealedPush

/// Specification 11.1 and 11.2. Tests of a device's record also apply to a sender set: they share their core.
@Suite("A signed record") struct DeviceRecordTests {
    private let enrolling = Enrolling()

    private func recipients(_ count: Int) -> [DevicePublicKey] { (0..<count).map { _ in DevicePrivateKey().recipient } }

    @Test("A record comes back from its text as the same, with 1 to 16 keys in their order", arguments: 1...16)
    func roundTrip(count: Int) throws {
        let recipients = recipients(count)
        let record = try enrolling.record(of: recipients, counter: RecordCounter.maximum)
        let read = try DeviceRecord(parsing: record.description)
        #expect(read == record)
        #expect(read.description == record.description)
        #expect(read.enrollment == enrolling.enrollment)
        #expect(read.recipients == recipients)
        #expect(read.counter == RecordCounter.maximum)
        #expect(read.created == Enrolling.now)
        #expect(read.expires == Enrolling.now.advanced(bySeconds: 90 * 86_400))
        #expect(read.topic == Enrolling.topic)
    }

    @Test("A record that swift-crypto signed is read, and ours are signed as swift-crypto would")
    func swiftCrypto() throws {
        for type in [1, 2] as [UInt8] {
            let raw = RawRecord(type: type)
            let key = Curve25519.Signing.PrivateKey()
            let text = try raw.text(signedBy: key)
            #expect(deviceRefusal(text) == (type == 1 ? nil : .wrongType))
            #expect(senderSetRefusal(text) == (type == 2 ? nil : .wrongType))
        }
        var raw = RawRecord()
        raw.keys = enrolling.recipients.map(\.bytes)
        let theirs = try Curve25519.Signing.PrivateKey(rawRepresentation: enrolling.enrollmentKey.secretBytes)
        let ours = try enrolling.record().description
        // swift-crypto's signatures differ each time, so the signed bytes are compared.
        let bytes = try #require(Base64URL.decode(ours.utf8.dropFirst(11)))
        let unsigned = raw.unsigned(theirs)
        #expect(Array(bytes[..<unsigned.count]) == unsigned)
        #expect(
            theirs.publicKey.isValidSignature(
                bytes[unsigned.count..<unsigned.count + 64], for: Array("sealedpush/v1 record\0".utf8) + unsigned))
        #expect(RawRecord.text(of: bytes.dropLast(4)) == ours)
    }

    @Test("A record needs 1 to 16 distinct keys, a counter below 2^62, and an end after its beginning")
    func refusedSigning() throws {
        let one = recipients(1)
        for count in [0, 17, 255, 256, 1_000] {
            #expect(throws: RecordError.malformed) { try enrolling.record(of: recipients(count)) }
        }
        #expect(throws: RecordError.malformed) { try enrolling.record(of: one + recipients(2) + one) }
        #expect(throws: RecordError.malformed) { try enrolling.record(expires: Enrolling.now) }
        #expect(throws: RecordError.malformed) {
            try enrolling.record(expires: Enrolling.now.advanced(bySeconds: -1))
        }
        for keeps in [-1, 0, 32, 256] {
            #expect(throws: RecordError.malformed) { try enrolling.record(keeps: keeps) }
        }
        for counter in [1 << 62, .max] as [UInt64] {
            #expect(throws: RecordError.malformed) { try enrolling.record(counter: counter) }
            for type in [1, 2] as [UInt8] {
                let text = try RawRecord(type: type, counter: counter).text()
                #expect((type == 1 ? deviceRefusal(text) : senderSetRefusal(text)) == .malformed)
            }
        }
        // Seven hybrid keys take more than 8,192 bytes.
        let hybrid = (0..<7).map { _ in DevicePrivateKey(.hybrid).recipient }
        #expect(throws: RecordError.malformed) { try enrolling.record(of: hybrid) }
        #expect(try DeviceRecord(parsing: enrolling.record(of: hybrid.dropLast()).description).recipients.count == 6)
        #expect(throws: RecordError.malformed) {
            try SenderSet(
                of: [], topic: Enrolling.topic, counter: 1, created: Enrolling.now,
                expires: Enrolling.now.advanced(bySeconds: 1), signedBy: AuthorityPrivateKey())
        }
    }

    @Test("A leaving's counter may be one higher than any record's, and not more") func leaving() throws {
        let leaving = Leaving(counter: 1 << 62, topic: Enrolling.topic, signedBy: enrolling.enrollmentKey)
        #expect(leaving.counter > RecordCounter.maximum)
        #expect(try Leaving(parsing: leaving.description, topic: Enrolling.topic) == leaving)
        var bytes = try #require(Base64URL.decode(leaving.description.utf8.dropFirst(12)))
        // The last byte of the counter. Its signature is checked afterwards.
        bytes[39] = 1
        #expect(throws: RecordError.malformed) {
            try Leaving(parsing: "pushleaving." + Base64URL.encode(bytes), topic: Enrolling.topic)
        }
    }

    @Test("A record whose text has any bit flipped is rejected") func textFlips() throws {
        let text = try enrolling.record().description
        var tried = 0
        for flipped in text.bitFlips() {
            #expect([.malformed, .wrongChecksum].contains(deviceRefusal(flipped)))
            tried += 1
        }
        #expect(tried == text.utf8.count * 8)
    }

    @Test("A record of either type with any bit flipped is rejected although its checksum is valid")
    func byteFlips() throws {
        for type in [1, 2] as [UInt8] {
            let bytes = try RawRecord(type: type).signed()
            var badSignatures = 0
            for bit in 0..<bytes.count * 8 {
                var flipped = bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                let text = RawRecord.text(of: flipped)
                let codes = [deviceRefusal(text), senderSetRefusal(text)]
                #expect(!codes.contains(nil))
                if codes.contains(.badSignature) { badSignatures += 1 }
            }
            // At least the counter, the signature, and half of the signers' points.
            #expect(badSignatures > 64 * 8 + 64 + 100)
        }
    }

    @Test("A huge or random record is rejected in bounded time") func hostile() throws {
        var random = SeededGenerator()
        // The length is checked first, so none of these is decoded.
        for character in ["A", "-", "é", "\0"] {
            #expect(deviceRefusal("pushrecord." + String(repeating: character, count: 20_000_000)) == .malformed)
        }
        for _ in 0..<3_000 {
            let bytes = random.bytes(Int.random(in: 0...900, using: &random))
            #expect(deviceRefusal(RawRecord.text(of: bytes)) != nil)
            #expect(deviceRefusal(String(decoding: bytes, as: UTF8.self)) == .malformed)
            let start = [1, 2] + bytes
            #expect(deviceRefusal(RawRecord.text(of: start)) != nil)
        }
    }

    @Test("Each error about a record has its own code and sentence, and contains nothing of it") func errors() throws {
        #expect(Set(RecordError.allCases.map(\.description)).count == 14)
        #expect(
            RecordError.allCases.map(\.rawValue) == [
                "malformed", "wrong-checksum", "wrong-type", "bad-signature", "foreign-signer", "other-topic",
                "other-service", "not-yet-valid", "expired", "rolled-back", "conflicting", "unproven",
                "unsupported", "malformed-state",
            ])
        for sentence in RecordError.allCases.map(\.description) {
            #expect(!sentence.contains("\n") && !sentence.hasSuffix(".") && !sentence.contains("  "))
        }
    }
}

/// Specification 11.6.
@Suite("Trusted senders") struct TrustedSendersTests {
    private let first = AuthorityPrivateKey()
    private let second = AuthorityPrivateKey()
    private let builtIn = SenderPrivateKey().sender
    private let now = Exchange.now

    private func set(
        _ counter: UInt64, by key: AuthorityPrivateKey, topic: Topic = Exchange.topic, expires: Int64 = 100
    ) throws(RecordError) -> SenderSet {
        try SenderSet(
            of: [SenderPrivateKey().sender, SenderPrivateKey().sender], topic: topic, counter: counter, created: now,
            expires: now.advanced(bySeconds: expires), signedBy: key)
    }

    private func refusal(_ set: SenderSet, by trusted: TrustedSenders, known: SenderSet? = nil) -> RecordError? {
        SealedPushTests.refusal { () throws(RecordError) in
            try trusted.check(set, topic: Exchange.topic, replacing: known, at: now)
        }
    }

    @Test("Trusted senders are those built in until a pinned authority's set replaces them, in its order")
    func following() throws {
        let trusted = TrustedSenders([builtIn], authorities: [first.authority])
        let set = try set(1, by: first)
        func believed(_ set: SenderSet?, at now: Timestamp) -> [SenderPublicKey] {
            trusted.senders(following: set, topic: Exchange.topic, at: now)
        }
        #expect(believed(nil, at: now) == [builtIn])
        #expect(believed(set, at: now) == set.senders)
        // A set of an untrusted signer is ignored. After one has expired, no sender is trusted, not even the old keys.
        #expect(believed(try self.set(1, by: second), at: now) == [builtIn])
        #expect(believed(try self.set(1, by: first, topic: "com.example.other"), at: now) == [builtIn])
        #expect(believed(set, at: now.advanced(bySeconds: 101)).isEmpty)
    }

    @Test("A set of any pinned authority is accepted, and of no other") func pinned() throws {
        let both = TrustedSenders([], authorities: [first.authority, second.authority])
        #expect(refusal(try set(1, by: first), by: both) == nil)
        #expect(refusal(try set(1, by: second), by: both) == nil)
        #expect(refusal(try set(1, by: AuthorityPrivateKey()), by: both) == .foreignSigner)
        #expect(refusal(try set(1, by: first), by: TrustedSenders([builtIn])) == .foreignSigner)
    }

    @Test("Sets of two authorities can't be rolled back by alternating between them") func rollback() throws {
        let both = TrustedSenders([], authorities: [first.authority, second.authority])
        let (old, newer) = (try set(3, by: first), try set(4, by: second))
        #expect(refusal(newer, by: both, known: old) == nil)
        #expect(refusal(old, by: both, known: newer) == .rolledBack)
        #expect(refusal(try set(4, by: first), by: both, known: newer) == .conflicting)
    }

    @Test("The counter of an authority that is no longer pinned is forgotten") func replacedAuthority() throws {
        let known = try set(RecordCounter.maximum, by: first)
        let set = try set(1, by: second)
        #expect(refusal(set, by: TrustedSenders([], authorities: [second.authority]), known: known) == nil)
        let both = TrustedSenders([], authorities: [first.authority, second.authority])
        #expect(refusal(set, by: both, known: known) == .rolledBack)
    }
}
