import Foundation
import TestSupport
import Testing
import _PushBase

@testable import PushCrypto
@testable import SealedPush

#if os(Linux)
    import TestPrograms
    import TestThreads
#endif

/// Specification 12.
@Suite("A fingerprint")
struct FingerprintTests {
    private static func line(of fingerprint: Fingerprint) -> String {
        "\(fingerprint.description); \(fingerprint.words.joined(separator: " "))"
    }

    @Test("is the one that the Specification's examples give, with leading zeros")
    func knownAnswers() throws {
        let recipient = try Recipient(parsing: "push1x56endjkd5mwg2fduh7vv8yel4reyvdlhvjtp3qdrd282sxwu3ksqhs462")
        let first = Fingerprint(of: recipient)
        #expect(first.description == "91641 11652 10822 84328 05299 67106")
        #expect(first.digits == ["91641", "11652", "10822", "84328", "05299", "67106"])
        #expect(
            first.words == [
                "shrimp", "moss", "newt", "opera", "modern", "duet", "proud", "palace", "insect", "anchor", "garlic",
                "ideal",
            ])
        let sender = try Sender(parsing: "pushsender1wzxhhf7u3rzz6zt3mzqetjag8xsqqum8u7ekujrwzztg5g280ghsvpv6st")
        let second = Fingerprint(of: sender)
        #expect(second.description == "14673 82679 34462 75749 15061 65016")
        #expect(
            second.words == [
                "simple", "pilot", "zesty", "bonus", "whisk", "snow", "robot", "needle", "attic", "insect", "koala",
                "orbit",
            ])
    }

    #if os(Linux)
        @Test("agrees with an implementation in another language, made from the Specification", .blocking)
        func otherImplementation() throws {
            var random = SeededGenerator()
            let kinds = ["push", "pushsender", "another"]
            let keys = (0..<300).map { (kind: kinds[$0 % kinds.count], bytes: random.bytes(32)) }
            let script = Checkout.folder.appending(path: "Tests/Interop/fingerprint.py").path
            let arguments = keys.flatMap { [$0.kind, Hex.encode($0.bytes)] }
            let result = try Program(at: "/usr/bin/python3").run([script] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            let lines = result.output.split(separator: "\n").map(String.init)
            #expect(lines == keys.map { Self.line(of: Fingerprint(kind: $0.kind, bytes: $0.bytes)) })
        }
    #endif

    @Test("of one key is the same on both ends, in small letters and in capitals")
    func bothEnds() throws {
        let (identity, senderKey) = (Identity(), SenderKey())
        let copies = try (
            Recipient(parsing: identity.recipient.description.uppercased()),
            Sender(parsing: senderKey.sender.description.uppercased())
        )
        #expect(Fingerprint(of: copies.0) == Fingerprint(of: identity.recipient))
        #expect(Fingerprint(of: copies.1) == Fingerprint(of: senderKey.sender))
        #expect(Fingerprint(of: copies.0).words == Fingerprint(of: identity.recipient).words)
    }

    @Test("of the same bytes as another kind of key looks different")
    func kinds() throws {
        let recipient = Identity().recipient
        let asSender = Fingerprint(of: Sender(recipient.bytes, .x25519)!)
        let asRecipient = Fingerprint(of: recipient)
        #expect(asSender != asRecipient)
        #expect(asSender.digits != asRecipient.digits)
        #expect(asSender.words != asRecipient.words)
        #expect(asSender == Fingerprint(kind: "pushsender", bytes: recipient.bytes))
    }

    @Test("changes in most of its digits and words with any one bit of the key")
    func flippedBits() {
        var random = SeededGenerator()
        let key = random.bytes(32)
        let right = Fingerprint(kind: "push", bytes: key)
        var (sameGroups, sameWords) = (0, 0)
        for bit in 0..<256 {
            var bytes = key
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            let wrong = Fingerprint(kind: "push", bytes: bytes)
            #expect(wrong != right)
            #expect(wrong.digits != right.digits, "bit \(bit)")
            #expect(wrong.words != right.words, "bit \(bit)")
            sameGroups += zip(wrong.digits, right.digits).count { $0 == $1 }
            sameWords += zip(wrong.words, right.words).count { $0 == $1 }
        }
        // By chance: 1,536 groups of which each stays with 1 in 100,000; 3,072 words of which each stays with 1 in 256.
        #expect(sameGroups <= 3)
        #expect(sameWords <= 48)
    }

    @Test("uses all words, and all digits in each place, about equally often")
    func distribution() {
        var random = SeededGenerator()
        var words: [String: Int] = [:]
        var digits = [[Character: Int]](repeating: [:], count: 30)
        let count = 4_000
        for _ in 0..<count {
            let fingerprint = Fingerprint(kind: "push", bytes: random.bytes(32))
            #expect(fingerprint.digits.count == 6 && fingerprint.digits.allSatisfy { $0.count == 5 })
            #expect(fingerprint.words.count == 12)
            for word in fingerprint.words { words[word, default: 0] += 1 }
            for (place, digit) in fingerprint.digits.joined().enumerated() { digits[place][digit, default: 0] += 1 }
        }
        // Chi-squared, with bounds that chance passes about once in a billion runs.
        #expect(words.count == 256)
        #expect((130...410).contains(Self.chiSquared(words.values, expected: Double(12 * count) / 256)))
        for place in digits {
            #expect(place.count == 10)
            #expect(Self.chiSquared(place.values, expected: Double(count) / 10) < 65)
        }
    }

    private static func chiSquared(_ counts: some Sequence<Int>, expected: Double) -> Double {
        counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
    }

    @Test("is for a key of a named kind; another call stops the program")
    func wrongCalls() async {
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = Fingerprint(kind: "push", bytes: [])
        }
        await #expect(processExitsWith: .failure) {
            dieQuietly()
            _ = Fingerprint(kind: "push\0", bytes: [UInt8](repeating: 1, count: 32))
        }
    }
}
