import Crypto
import TestSupport
import Testing

@testable import PushCrypto
@testable import SealedPush

/// Specification 11.1 and 11.2. What is said of a device's record holds for a sender set too: they share their core.
@Suite("A signed record")
struct DeviceRecordTests {
    private let enrolling = Enrolling()

    private func recipients(_ count: Int) -> [Recipient] { (0..<count).map { _ in Identity().recipient } }

    @Test("comes back from its text as the same, with 1 to 16 keys in their order", arguments: 1...16)
    func roundTrip(count: Int) throws {
        let recipients = recipients(count)
        let record = try enrolling.record(of: recipients, counter: .max)
        let read = try DeviceRecord(parsing: record.description)
        #expect(read == record)
        #expect(read.description == record.description)
        #expect(read.enrolment == enrolling.enrolment)
        #expect(read.recipients == recipients)
        #expect(read.counter == .max)
        #expect(read.created == Enrolling.now)
        #expect(read.expires == Enrolling.now.advanced(bySeconds: 90 * 86_400))
        #expect(read.topic == Enrolling.topic)
    }

    @Test("of senders comes back from its text as the same")
    func senderSet() throws {
        let (key, senders) = (AuthorityKey(), (0..<5).map { _ in SenderKey().sender })
        let set = try SenderSet(
            of: senders, topic: Enrolling.topic, counter: 0, created: Enrolling.now,
            expires: Enrolling.now.advanced(bySeconds: 1), signedBy: key)
        let read = try SenderSet(parsing: set.description)
        #expect(read == set)
        #expect(read.authority == key.authority)
        #expect(read.senders == senders)
        #expect(read.counter == 0)
        #expect(read.created == Enrolling.now)
        #expect(read.expires == Enrolling.now.advanced(bySeconds: 1))
        #expect(read.topic == Enrolling.topic)
        #expect(deviceRefusal(set.description) == .wrongType)
    }

    @Test("is read as swift-crypto signs it, and is signed as swift-crypto would")
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
        let theirs = try Curve25519.Signing.PrivateKey(rawRepresentation: enrolling.enrolmentKey.secretBytes)
        let ours = try enrolling.record().description
        // swift-crypto's signatures are not the same each time: compared is what is signed.
        let bytes = try #require(Base64URL.decode(ours.utf8.dropFirst(11)))
        let unsigned = raw.unsigned(theirs)
        #expect(Array(bytes[..<unsigned.count]) == unsigned)
        #expect(
            theirs.publicKey.isValidSignature(
                bytes[unsigned.count..<unsigned.count + 64], for: Array("sealedpush/v1 record\0".utf8) + unsigned))
        #expect(RawRecord.text(of: bytes.dropLast(4)) == ours)
    }

    @Test("at its longest has 1,071 characters, at its shortest 226")
    func lengths() throws {
        let long = Topic(parsing: String(repeating: "x", count: 155))!
        #expect(try enrolling.record(of: recipients(16), topic: long).description.utf8.count == 1_071)
        #expect(try enrolling.record(of: recipients(1), topic: "x").description.utf8.count == 226)
        #expect(deviceRefusal(try enrolling.record(of: recipients(16), topic: long).description) == nil)
        #expect(deviceRefusal(try enrolling.record(of: recipients(1), topic: "x").description) == nil)
    }

    @Test("is not made of no key, of more than 16, of one twice, or to end before it begins")
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
        #expect(throws: RecordError.malformed) {
            try SenderSet(
                of: [], topic: Enrolling.topic, counter: 1, created: Enrolling.now,
                expires: Enrolling.now.advanced(bySeconds: 1), signedBy: AuthorityKey())
        }
    }

    @Test("that is wrong in one part, though truly signed, is refused")
    func wrongParts() throws {
        func expect(
            _ code: RecordError?, sourceLocation: SourceLocation = #_sourceLocation, _ change: (inout RawRecord) -> Void
        ) throws {
            var raw = RawRecord()
            change(&raw)
            #expect(deviceRefusal(try raw.text()) == code, sourceLocation: sourceLocation)
        }
        let key = { Array(Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation) }
        try expect(nil) { _ in }
        for type in [0, 2, 3, 255] as [UInt8] { try expect(.wrongType) { $0.type = type } }
        for version in [0, 2, 255] as [UInt8] { try expect(.malformed) { $0.version = version } }
        try expect(nil) { $0.keys = (0..<16).map { _ in key() } }
        for count in [0, 17] { try expect(.malformed) { $0.keys = (0..<count).map { _ in key() } } }
        for count in [0, 2, 17, 255] as [UInt8] { try expect(.malformed) { $0.keyCount = count } }
        try expect(.malformed) { $0.keys = [key(), key(), $0.keys[0], $0.keys[0]] }
        try expect(.malformed) { $0.keys = [[UInt8](repeating: 0, count: 32)] }
        try expect(.malformed) { $0.keys[0][31] |= 0x80 }
        try expect(.malformed) { $0.keys = [$0.keys[0], [1] + [UInt8](repeating: 0, count: 31)] }
        try expect(.malformed) { $0.extra = [0] }
        try expect(.malformed) { $0.extra = key() }
        try expect(.malformed) { $0.expires = $0.created }
        try expect(.malformed) { $0.created = $0.expires + 1 }
        for number in [253_402_300_800, UInt64(Int64.max), UInt64(Int64.max) + 1, .max] as [UInt64] {
            try expect(.malformed) { $0.expires = number }
            try expect(.malformed) { $0.created = number }
        }
        try expect(nil) { ($0.created, $0.expires, $0.counter) = (0, 253_402_300_799, .max) }
        try expect(.malformed) { $0.topic = [] }
        try expect(.malformed) { $0.topic = Array("com.example app".utf8) }
        try expect(.malformed) { $0.topic = Array("com.exampl\u{e9}".utf8) }
        try expect(.malformed) { $0.topic = [0x61, 0xff] }
        try expect(.malformed) { $0.topic = [UInt8](repeating: 0x61, count: 156) }
        for count in [0, 14, 16, 155, 156, 255] as [UInt8] { try expect(.malformed) { $0.topicByteCount = count } }
        try expect(.malformed) { $0.signer = [UInt8](repeating: 0, count: 32) }
        try expect(.malformed) { $0.signer = [UInt8](repeating: 0xff, count: 32) }
        try expect(.badSignature) { $0.signer = EnrolmentKey().enrolment.bytes }
        try expect(.badSignature) { $0.context = "" }
        try expect(.badSignature) { $0.context = "sealedpush/v1 record" }
        try expect(.badSignature) { $0.context = "sealedpush/v2 record\0" }
    }

    @Test("whose text has any bit flipped is refused")
    func textFlips() throws {
        let text = try enrolling.record().description
        var tried = 0
        for flipped in text.bitFlips() {
            #expect([.malformed, .wrongChecksum].contains(deviceRefusal(flipped)))
            tried += 1
        }
        #expect(tried == text.utf8.count * 8)
    }

    @Test("with any bit flipped is refused though its checksum fits, of one kind and the other")
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
            // The counter, the signature and half of the signers' points at least.
            #expect(badSignatures > 64 * 8 + 64 + 100)
        }
    }

    @Test("that is cut or longer is refused, with its checksum and without")
    func cuts() throws {
        let bytes = try RawRecord().signed()
        for count in 0..<bytes.count { #expect(deviceRefusal(RawRecord.text(of: Array(bytes[..<count]))) != nil) }
        for more in 1...40 {
            #expect(deviceRefusal(RawRecord.text(of: bytes + [UInt8](repeating: 0, count: more))) == .malformed)
        }
        let text = RawRecord.text(of: bytes)
        for count in 0..<text.count {
            #expect([.malformed, .wrongChecksum].contains(deviceRefusal(String(text.prefix(count)))))
            #expect(deviceRefusal(String(text.suffix(count))) == .malformed)
        }
        #expect(deviceRefusal(text) == nil)
    }

    @Test("with anything around its text, or in another form of base64, is refused")
    func surroundings() throws {
        let text = try RawRecord().text()
        for wrong in [" " + text, text + " ", text + "\n", "\u{feff}" + text, text + "=", text + text, text + "A"] {
            #expect([.malformed, .wrongChecksum].contains(deviceRefusal(wrong)))
        }
        for start in ["", "pushrecord", "pushrecord:", "PUSHRECORD.", "pushanswer.", "pushrecord.."] {
            #expect(deviceRefusal(start + text.dropFirst(11)) == .malformed)
        }
    }

    @Test("of one kind never passes for the other, not even with its type changed")
    func typeConfusion() throws {
        for (from, to) in [(1, 2), (2, 1)] as [(UInt8, UInt8)] {
            var bytes = try RawRecord(type: from).signed()
            bytes[0] = to
            let text = RawRecord.text(of: bytes)
            #expect((to == 1 ? deviceRefusal(text) : senderSetRefusal(text)) == .badSignature)
        }
    }

    @Test("that is huge or random is refused in bounded time")
    func hostile() throws {
        var random = SeededGenerator()
        // The length is looked at first: none of these is decoded.
        for character in ["A", "-", "é", "\0"] {
            #expect(deviceRefusal("pushrecord." + String(repeating: character, count: 20_000_000)) == .malformed)
        }
        for _ in 0..<3_000 {
            let bytes = random.bytes(Int.random(in: 0...900, using: &random))
            #expect(deviceRefusal(RawRecord.text(of: bytes)) != nil)
            #expect(deviceRefusal(String(decoding: bytes, as: UTF8.self)) == .malformed)
            let start = [1, 1] + bytes
            #expect(deviceRefusal(RawRecord.text(of: start)) != nil)
        }
    }

    @Test("is described by errors that have a code and a sentence each, and hold nothing of it")
    func errors() throws {
        #expect(Set(RecordError.allCases.map(\.rawValue)).count == 11)
        #expect(Set(RecordError.allCases.map(\.description)).count == 11)
        #expect(
            RecordError.allCases.map(\.rawValue) == [
                "malformed", "wrong-checksum", "wrong-type", "bad-signature", "foreign-signer", "other-topic",
                "not-yet-valid", "expired", "rolled-back", "conflicting", "unproven",
            ])
        for sentence in RecordError.allCases.map(\.description) {
            #expect(!sentence.contains("\n") && !sentence.hasSuffix(".") && !sentence.contains("  "))
        }
    }
}
