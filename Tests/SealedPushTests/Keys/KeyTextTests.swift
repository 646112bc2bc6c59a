import Crypto
import TestSupport
import Testing

@testable import PushCrypto
@testable import SealedPush

/// Specification 8.
@Suite("Key text")
struct KeyTextTests {
    /// One of the eight kinds: its text for a secret's 32 bytes, and its parser.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let characterCount: Int
        let text: @Sendable ([UInt8]) throws -> String
        let parse: @Sendable (String) throws(KeyTextError) -> Void

        func refusal(_ text: String) -> KeyTextError? {
            do throws(KeyTextError) {
                try parse(text)
                return nil
            } catch {
                return error
            }
        }

        var isSecret: Bool { testDescription.hasSuffix("secret") }
    }

    static let kinds = [
        Kind(testDescription: "recipient", characterCount: 63) {
            try Identity(secret: $0).recipient.description
        } parse: { (text) throws(KeyTextError) in
            _ = try Recipient(parsing: text)
        },
        Kind(testDescription: "sender", characterCount: 69) {
            try SenderKey(secret: $0).sender.description
        } parse: { (text) throws(KeyTextError) in
            _ = try Sender(parsing: text)
        },
        Kind(testDescription: "identity's secret", characterCount: 75) {
            try Identity(secret: $0).secretText
        } parse: { (text) throws(KeyTextError) in
            _ = try Identity(parsing: text)
        },
        Kind(testDescription: "sender's secret", characterCount: 82) {
            try SenderKey(secret: $0).secretText
        } parse: { (text) throws(KeyTextError) in
            _ = try SenderKey(parsing: text)
        },
        Kind(testDescription: "authority", characterCount: 72) {
            try AuthorityKey(secret: $0).authority.description
        } parse: { (text) throws(KeyTextError) in
            _ = try Authority(parsing: text)
        },
        Kind(testDescription: "enrolment", characterCount: 72) {
            try EnrolmentKey(secret: $0).enrolment.description
        } parse: { (text) throws(KeyTextError) in
            _ = try Enrolment(parsing: text)
        },
        Kind(testDescription: "authority's secret", characterCount: 85) {
            try AuthorityKey(secret: $0).secretText
        } parse: { (text) throws(KeyTextError) in
            _ = try AuthorityKey(parsing: text)
        },
        Kind(testDescription: "enrolment's secret", characterCount: 85) {
            try EnrolmentKey(secret: $0).secretText
        } parse: { (text) throws(KeyTextError) in
            _ = try EnrolmentKey(parsing: text)
        },
    ]

    private static let secret = Array("a secret of exactly 32 bytes, ok".utf8)

    @Test("has the form and length that the Specification gives, and comes back as the same key")
    func roundTrip() throws {
        for round in 0..<10 {
            let (identity, senderKey) = (Identity(), SenderKey())
            let (authorityKey, enrolmentKey) = (AuthorityKey(), EnrolmentKey())
            let texts = [
                identity.recipient.description, senderKey.sender.description, identity.secretText, senderKey.secretText,
                authorityKey.authority.description, enrolmentKey.enrolment.description, authorityKey.secretText,
                enrolmentKey.secretText,
            ]
            #expect(texts.map(\.count) == Self.kinds.map(\.characterCount), "round \(round)")
            let starts = [
                "push1", "pushsender1", "PUSH-SECRET-KEY-1", "PUSH-SENDER-SECRET-KEY-1", "pushauthority1",
                "pushenrolment1", "PUSH-AUTHORITY-SECRET-KEY-1", "PUSH-ENROLMENT-SECRET-KEY-1",
            ]
            for (text, start) in zip(texts, starts) { #expect(text.hasPrefix(start)) }
            #expect(try Recipient(parsing: texts[0]) == identity.recipient)
            #expect(try Sender(parsing: texts[1]) == senderKey.sender)
            #expect(try Identity(parsing: texts[2]).secretBytes == identity.secretBytes)
            #expect(try SenderKey(parsing: texts[3]).secretBytes == senderKey.secretBytes)
            #expect(try Identity(parsing: Array(texts[2].utf8)).recipient == identity.recipient)
            #expect(try SenderKey(parsing: Array(texts[3].utf8)).sender == senderKey.sender)
            #expect(try Authority(parsing: texts[4]) == authorityKey.authority)
            #expect(try Enrolment(parsing: texts[5]) == enrolmentKey.enrolment)
            #expect(try AuthorityKey(parsing: texts[6]).secretBytes == authorityKey.secretBytes)
            #expect(try EnrolmentKey(parsing: texts[7]).secretBytes == enrolmentKey.secretBytes)
            #expect(try AuthorityKey(parsing: Array(texts[6].utf8)).authority == authorityKey.authority)
            #expect(try EnrolmentKey(parsing: Array(texts[7].utf8)).enrolment == enrolmentKey.enrolment)
        }
    }

    @Test("agrees with Bech32 written out for these tests")
    func knownAnswers() throws {
        let identity = try Identity(secret: Self.secret)
        let publicKey = identity.recipient.bytes
        #expect(identity.recipient.description == ReferenceBech32.encode("push", bytes: publicKey))
        #expect(
            Sender(identity.recipient.bytes, .x25519)!.description
                == ReferenceBech32.encode("pushsender", bytes: publicKey))
        #expect(identity.secretText == ReferenceBech32.encode("push-secret-key-", bytes: Self.secret).uppercased())
        #expect(
            try SenderKey(secret: Self.secret).secretText
                == ReferenceBech32.encode("push-sender-secret-key-", bytes: Self.secret).uppercased())
        let signer = try EnrolmentKey(secret: Self.secret).enrolment
        #expect(
            Enrolment(signer.bytes, .ed25519)!.description
                == ReferenceBech32.encode("pushenrolment", bytes: signer.bytes))
        #expect(
            Authority(signer.bytes, .ed25519)!.description
                == ReferenceBech32.encode("pushauthority", bytes: signer.bytes))
        #expect(
            try EnrolmentKey(secret: Self.secret).secretText
                == ReferenceBech32.encode("push-enrolment-secret-key-", bytes: Self.secret).uppercased())
        #expect(
            try AuthorityKey(secret: Self.secret).secretText
                == ReferenceBech32.encode("push-authority-secret-key-", bytes: Self.secret).uppercased())
    }

    @Test("of one kind never parses as another", arguments: kinds)
    func otherKinds(kind: Kind) throws {
        for other in Self.kinds where other.testDescription != kind.testDescription {
            let text = try other.text(Self.secret)
            #expect(kind.refusal(text) == .wrongKind)
            #expect(kind.refusal(text.uppercased()) == .wrongKind)
        }
        #expect(kind.refusal(try kind.text(Self.secret)) == nil)
    }

    @Test("with any one character wrong, missing, doubled or added is caught", arguments: kinds)
    func singleErrors(kind: Kind) throws {
        let right = Array(try kind.text(Self.secret))
        let alphabet =
            kind.isSecret ? ReferenceBech32.alphabet.map { Character($0.uppercased()) } : ReferenceBech32.alphabet
        var tried = 0
        for place in right.indices {
            for wrong in alphabet + ["1", "-", "b", "B", " ", "?"] where wrong != right[place] {
                var text = right
                text[place] = wrong
                #expect(kind.refusal(String(text)) != nil)
                tried += 1
            }
            for change in [[], [right[place], right[place]], [right[place], alphabet[0]]] {
                var text = right
                text.replaceSubrange(place...place, with: change)
                #expect(kind.refusal(String(text)) != nil)
            }
        }
        #expect(tried > right.count * 30)
    }

    @Test("of a public key may be in capitals, of a secret must be", arguments: kinds)
    func capitals(kind: Kind) throws {
        let text = try kind.text(Self.secret)
        #expect(kind.refusal(text.uppercased()) == nil)
        #expect(kind.refusal(text.lowercased()) == (kind.isSecret ? .notInCapitals : nil))
    }

    @Test("in mixed case is refused, wherever the one other letter stands", arguments: kinds)
    func mixedCase(kind: Kind) throws {
        let right = Array(try kind.text(Self.secret))
        for place in right.indices where right[place].isLetter {
            var text = right
            text[place] = Character(kind.isSecret ? text[place].lowercased() : text[place].uppercased())
            #expect(kind.refusal(String(text)) == .mixedCase)
        }
    }

    @Test("with anything around it, over 90 characters, or not ASCII is refused", arguments: kinds)
    func surroundings(kind: Kind) throws {
        let text = try kind.text(Self.secret)
        for wrong in [" " + text, text + " ", text + "\n", "\u{feff}" + text, text + "\0", text + text] {
            #expect(kind.refusal(wrong) != nil)
        }
        #expect(kind.refusal(String(repeating: "Q", count: 91)) == .tooLong)
        #expect(kind.refusal(String(repeating: "Q", count: 90)) == .notAKey)
        #expect(kind.refusal("") == .notAKey)
        #expect(kind.refusal(text.replacing("1", with: "１", maxReplacements: 1)) != nil)
        #expect(kind.refusal(String(text.dropLast()) + "é") != nil)
        #expect(kind.refusal(String(text.dropLast()) + "\u{ff51}") != nil)
        // The Kelvin sign is a K to those who compare characters.
        #expect(kind.refusal(text.uppercased().replacing("K", with: "\u{212a}") + "\u{212a}") != nil)
    }

    @Test("of a public key that is not safe is refused")
    func unsafeKeys() {
        let unsafe: [[UInt8]] = [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f], [UInt8](repeating: 0xff, count: 32),
            [9] + [UInt8](repeating: 0, count: 30) + [0x80],
        ]
        for bytes in unsafe {
            #expect(Self.kinds[0].refusal(ReferenceBech32.encode("push", bytes: bytes)) == .unsafeKey)
            #expect(Self.kinds[1].refusal(ReferenceBech32.encode("pushsender", bytes: bytes)) == .unsafeKey)
            #expect(Self.kinds[4].refusal(ReferenceBech32.encode("pushauthority", bytes: bytes)) == .unsafeKey)
            #expect(Self.kinds[5].refusal(ReferenceBech32.encode("pushenrolment", bytes: bytes)) == .unsafeKey)
        }
    }

    @Test("of any 32 bytes is a secret, and is written unclamped")
    func anySecret() throws {
        for byte in [0x00, 0x07, 0xff] as [UInt8] {
            let secret = [UInt8](repeating: byte, count: 32)
            #expect(try Identity(secret: secret).secretBytes == secret)
            #expect(try SenderKey(secret: secret).secretBytes == secret)
            #expect(try AuthorityKey(secret: secret).secretBytes == secret)
            #expect(try EnrolmentKey(secret: secret).secretBytes == secret)
        }
    }

    @Test("of an authority may stand in the source")
    func goodLiteral() throws {
        let authority: Authority = "pushauthority1k03e583a7dtkqkdd7uglazndtlps6rax73mkt6unnxsrxeehzgns4ftpfl"
        #expect(authority == (try AuthorityKey(secret: Self.secret)).authority)
    }
}
