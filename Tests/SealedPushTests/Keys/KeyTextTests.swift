import Crypto
import Foundation
import TestSupport
import Testing

@testable import PushCore
@testable import SealedPush

/// Specification 8.
@Suite("Key text") struct KeyTextTests {
    /// One of the eight types: its text for a secret's 32 bytes, the text's contents, and its parser.
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let characterCount: Int
        let text: @Sendable ([UInt8]) throws -> String
        let bytes: @Sendable ([UInt8]) throws -> [UInt8]
        let parse: @Sendable (String) throws(KeyTextError) -> [UInt8]
        var isSecret: Bool { testDescription.hasSuffix("-") }

        func refusal(_ text: String) -> KeyTextError? {
            SealedPushTests.refusal { () throws(KeyTextError) in _ = try parse(text) }
        }
    }

    static let kinds =
        kinds(of: DevicePrivateKey.self, "push", 63, "push-secret-key-", 75)
        + kinds(of: SenderPrivateKey.self, "pushsender", 69, "push-sender-secret-key-", 82)
        + kinds(of: AuthorityPrivateKey.self, "pushauthority", 72, "push-authority-secret-key-", 85)
        + kinds(of: EnrollmentPrivateKey.self, "pushenrollment", 73, "push-enrollment-secret-key-", 86)

    private static func kinds<Role>(
        of: PrivateKey<Role>.Type, _ prefix: String, _ count: Int, _ secretPrefix: String, _ secretCount: Int
    ) -> [Kind] {
        [
            Kind(testDescription: prefix, characterCount: count) {
                try PrivateKey<Role>(secret: $0).publicKey.description
            } bytes: {
                try PrivateKey<Role>(secret: $0).publicKey.bytes
            } parse: { (text) throws(KeyTextError) in
                try PublicKey<Role>(parsing: text).bytes
            },
            Kind(testDescription: secretPrefix, characterCount: secretCount) {
                try PrivateKey<Role>(secret: $0).secretText
            } bytes: {
                $0
            } parse: { (text) throws(KeyTextError) in
                let key = try PrivateKey<Role>(parsing: text)
                #expect(try PrivateKey<Role>(parsing: Array(text.utf8)).secretBytes == key.secretBytes)
                return key.secretBytes
            },
        ]
    }

    private static let hybridKinds = [
        Kind(testDescription: "pushpq", characterCount: 1_634) {
            try DevicePrivateKey(secret: $0).publicKey.description
        } bytes: {
            $0
        } parse: { (text) throws(KeyTextError) in
            try DevicePublicKey(parsing: text).bytes
        },
        Kind(testDescription: "push-pq-secret-key-", characterCount: 78) {
            try DevicePrivateKey(secret: $0).secretText
        } bytes: {
            $0
        } parse: { (text) throws(KeyTextError) in
            try DevicePrivateKey(parsing: text).secretBytes
        },
    ]

    @Test("Each text in Tests/Vectors/Text/keys.tsv is a key or not, as it says") func vectors() throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Tests/Vectors/Text/keys.tsv"))
        let lines = text.split(separator: "\n").dropFirst(2)
        #expect(lines.count == 201)
        for line in lines {
            let parts = line.split(separator: "\t").map(String.init)
            let kind = try #require((Self.kinds + Self.hybridKinds).first { $0.testDescription == parts[0] })
            let text = parts[2].dropFirst().dropLast().replacing("\\n", with: "\n")
            let bytes = try? kind.parse(String(text))
            #expect(bytes.map(Hex.encode) ?? "refused" == parts[1], "\(line)")
        }
    }

    private static let secret = Array("a secret of exactly 32 bytes, ok".utf8)

    @Test(
        "Key text has the specified form and length, matches the tests' own Bech32, and comes back",
        arguments: kinds)
    func roundTrip(kind: Kind) throws {
        var random = SeededGenerator()
        for secret in [Self.secret, random.bytes(32), random.bytes(32)] {
            let (text, bytes) = (try kind.text(secret), try kind.bytes(secret))
            let expected = ReferenceBech32.encode(kind.testDescription, bytes: bytes)
            #expect(text == (kind.isSecret ? expected.uppercased() : expected))
            #expect(text.count == kind.characterCount)
            #expect(try kind.parse(text) == bytes)
        }
    }

    @Test("Key text of one type never parses as another", arguments: kinds) func otherKinds(kind: Kind) throws {
        for other in Self.kinds where other.testDescription != kind.testDescription {
            let text = try other.text(Self.secret)
            #expect(kind.refusal(text) == .wrongKind)
            #expect(kind.refusal(text.uppercased()) == .wrongKind)
        }
        #expect(kind.refusal(try kind.text(Self.secret)) == nil)
    }

    @Test("Key text with any one character wrong, missing, doubled, or added is detected", arguments: kinds)
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

    @Test("A public key's text may be uppercase; a secret key's must be", arguments: kinds)
    func capitals(kind: Kind) throws {
        let text = try kind.text(Self.secret)
        #expect(kind.refusal(text.uppercased()) == nil)
        #expect(kind.refusal(text.lowercased()) == (kind.isSecret ? .notInCapitals : nil))
    }

    @Test("Mixed case is rejected, wherever the differing letter is", arguments: kinds)
    func mixedCase(kind: Kind) throws {
        let right = Array(try kind.text(Self.secret))
        for place in right.indices where right[place].isLetter {
            var text = right
            text[place] = Character(kind.isSecret ? text[place].lowercased() : text[place].uppercased())
            #expect(kind.refusal(String(text)) == .mixedCase)
        }
    }

    @Test("Text with anything around it, over 90 characters, or not in ASCII is rejected", arguments: kinds)
    func surroundings(kind: Kind) throws {
        let text = try kind.text(Self.secret)
        for surrounded in [" " + text, text + "\n", text + "\r\n"] { #expect(kind.refusal(surrounded) == .whiteSpace) }
        for wrong in ["\u{feff}" + text, text + "\0", text + text] {
            #expect(kind.refusal(wrong) != nil)
        }
        #expect(kind.refusal(String(repeating: "Q", count: 91)) == .tooLong)
        #expect(kind.refusal(String(repeating: "Q", count: 90)) == .notAKey)
        #expect(kind.refusal("") == .notAKey)
        #expect(kind.refusal(text.replacing("1", with: "１", maxReplacements: 1)) != nil)
        #expect(kind.refusal(String(text.dropLast()) + "é") != nil)
        #expect(kind.refusal(String(text.dropLast()) + "\u{ff51}") != nil)
        // Comparing characters, the Kelvin sign equals a K.
        #expect(kind.refusal(text.uppercased().replacing("K", with: "\u{212a}") + "\u{212a}") != nil)
    }

    @Test("The text of an unsafe public key is rejected") func unsafeKeys() {
        let unsafe: [[UInt8]] = [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f], [UInt8](repeating: 0xff, count: 32),
            [9] + [UInt8](repeating: 0, count: 30) + [0x80],
        ]
        for bytes in unsafe {
            for kind in Self.kinds where !kind.isSecret {
                #expect(kind.refusal(ReferenceBech32.encode(kind.testDescription, bytes: bytes)) == .unsafeKey)
            }
        }
    }

    @Test("Any 32 bytes are a valid secret, and are written unclamped") func anySecret() throws {
        for byte in [0x00, 0x07, 0xff] as [UInt8] {
            let secret = [UInt8](repeating: byte, count: 32)
            for kind in Self.kinds where kind.isSecret { #expect(try kind.parse(kind.text(secret)) == secret) }
        }
    }

    @Test("A hybrid key's text with any one character wrong, missing, doubled, or added is detected")
    func hybridErrors() throws {
        let text = DevicePrivateKey(.hybrid).recipient.description
        func refusal(_ text: String) -> KeyTextError? {
            SealedPushTests.refusal { () throws(KeyTextError) in _ = try DevicePublicKey(parsing: text) }
        }
        #expect(text.utf8.count == 1_634 && refusal(text) == nil)
        for place in text.indices {
            let next = text.index(after: place)
            for wrong in [text[place] == "A" ? "B" : "A", "", "=", String(text[place]) + "A"] {
                #expect(refusal(text.replacingCharacters(in: place..<next, with: wrong)) != nil)
            }
        }
        #expect(refusal(text + "\n") == .whiteSpace && refusal(text + "A") == .wrongLength)
        #expect(refusal(String(text.dropLast())) == .wrongLength && refusal(text.dropLast() + "=") == .wrongCharacter)
        #expect(refusal("pushpq.A" + text.dropFirst(8)) == .wrongChecksum || text.hasPrefix("pushpq.A"))
        #expect(refusal(text.uppercased()) != nil && refusal(" " + text) != nil)
    }

    @Test("An authority's text may be a literal in the source") func goodLiteral() throws {
        let authority: AuthorityPublicKey = "pushauthority1k03e583a7dtkqkdd7uglazndtlps6rax73mkt6unnxsrxeehzgns4ftpfl"
        #expect(authority == (try AuthorityPrivateKey(secret: Self.secret)).authority)
    }
}

@Suite("An error about key text") struct KeyTextErrorTests {
    @Test("An error never contains any of the text, however it is printed") func noEcho() throws {
        let secret = DevicePrivateKey().secretText
        let middle = String(secret.dropFirst(30).prefix(20))
        let wrong = [
            String(secret.dropLast()), secret + "Q", secret.lowercased(), secret + secret, String(secret.dropFirst()),
            String(secret.dropFirst(17)), secret.replacing(middle, with: middle.lowercased()), secret + "é",
            "X" + secret, String(secret.dropLast()) + (secret.hasSuffix("Q") ? "P" : "Q"),
        ]
        for text in wrong {
            let error = try #require(throws: KeyTextError.self) { try DevicePrivateKey(parsing: text) }
            var dumped = ""
            dump(error, to: &dumped)
            for shown in ["\(error)", String(reflecting: error), dumped, error.description, error.rawValue] {
                for start in stride(from: 18, to: secret.count - 6, by: 3) {
                    let piece = secret.dropFirst(start).prefix(6)
                    #expect(!shown.uppercased().contains(piece))
                }
            }
        }
    }

    @Test("Each case has its own code and sentence") func sentences() {
        #expect(Set(KeyTextError.allCases.map(\.description)).count == KeyTextError.allCases.count)
        #expect(Set(KeyTextError.allCases.map(\.rawValue)).count == KeyTextError.allCases.count)
    }

    @Test("An error in a program's own source stops it and names the key, but not if it may be a secret")
    func literals() async throws {
        let placeholder = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                dieQuietly()
                _ = SenderPublicKey(stringLiteral: "pushsender1...")
            })
        let words = String(decoding: placeholder.standardErrorContent, as: UTF8.self)
        #expect(words.contains("pushsender1... in the source can't be used: "), "\(words)")

        let secret = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                dieQuietly()
                _ = AuthorityPublicKey(stringLiteral: "PUSH-AUTHORITY-SECRET-KEY-1QQQQ")
            })
        let others = String(decoding: secret.standardErrorContent, as: UTF8.self)
        #expect(others.contains("pushauthority1… in the source can't be used: "), "\(others)")
        #expect(!others.contains("QQQQ"))
    }
}

/// Specification 3.2.
@Suite("A key ID") struct KeyIDTests {
    @Test("A key ID is the first four bytes of SHA-256, as computed by swift-crypto") func knownAnswer() {
        for _ in 0..<20 {
            let identity = DevicePrivateKey()
            let digest = Array(Crypto.SHA256.hash(data: identity.recipient.bytes))
            #expect(identity.recipient.keyID.bytes == Array(digest[..<4]))
            #expect(identity.recipient.keyID.description == Hex.encode(Array(digest[..<4])))
            #expect(SenderPublicKey(identity.recipient.bytes, .x25519Seed)!.keyID == identity.recipient.keyID)
        }
    }

}

@Suite("A key object that is printed") struct HiddenSecretsTests {
    @Test("A printed key object shows its public half, and nothing of its secret") func printed() {
        let (identity, senderKey) = (DevicePrivateKey(), SenderPrivateKey())
        let (authorityKey, enrollmentKey) = (AuthorityPrivateKey(), EnrollmentPrivateKey())
        expectHidden(identity, "Identity", "recipient", identity.recipient)
        expectHidden(senderKey, "SenderKey", "sender", senderKey.sender)
        expectHidden(authorityKey, "AuthorityKey", "authority", authorityKey.authority)
        expectHidden(enrollmentKey, "EnrollmentKey", "enrollment", enrollmentKey.enrollment)
        for shown in everyPrint(of: DeviceKey(identity, created: Exchange.now)) {
            expectNothing(of: identity, in: shown)
        }
    }

    private func expectHidden<Role>(_ key: PrivateKey<Role>, _ type: String, _ label: String, _ half: some Any) {
        for shown in everyPrint(of: key) + everyPrint(of: [key]) + everyPrint(of: Optional(key)) {
            expectNothing(of: key, in: shown)
        }
        #expect("\(key)" == "\(type)(\(half))")
        #expect(String(reflecting: key).contains("\(half)"))
        let children = Mirror(reflecting: key).children
        #expect(children.map(\.label) == [label] && children.allSatisfy { $0.value is String })
    }

    private func everyPrint(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var debugPrinted = ""
        debugPrint(value, to: &debugPrinted)
        return ["\(value)", String(reflecting: value), dumped, debugPrinted]
    }

    private func expectNothing<Role>(of key: PrivateKey<Role>, in shown: String) {
        let (text, bytes, capitals) = (key.secretText, key.secretBytes, shown.uppercased())
        #expect(!shown.isEmpty)
        #expect(!capitals.contains("SECRET-KEY-1"))
        // Pieces of eight characters or four bytes: a coincidence would take more than a lifetime.
        for start in stride(from: text.count - 58, to: text.count - 8, by: 4) {
            #expect(!capitals.contains(text.dropFirst(start).prefix(8)))
        }
        for start in stride(from: 0, through: 28, by: 4) {
            let piece = bytes[start..<start + 4]
            #expect(!capitals.contains(Hex.encode(Array(piece)).uppercased()))
            #expect(!capitals.contains(piece.map(String.init).joined(separator: ", ")))
        }
    }
}
