import Foundation
import TestSupport
import Testing

@testable import PushCore
@testable import SealedPush

#if os(Linux)
import TestPrograms
#endif

/// Specification 12.
@Suite("A fingerprint") struct FingerprintTests {
    private static func line(of fingerprint: Fingerprint) -> String {
        "\(fingerprint.description); \(fingerprint.words.joined(separator: " "))"
    }

    @Test("Fingerprints match the Specification's examples, including leading zeros") func knownAnswers() throws {
        let recipient = try DevicePublicKey(parsing: "push1x56endjkd5mwg2fduh7vv8yel4reyvdlhvjtp3qdrd282sxwu3ksqhs462")
        let first = Fingerprint(of: recipient)
        #expect(first.description == "91641 11652 10822 84328 05299 67106")
        #expect(first.digits == ["91641", "11652", "10822", "84328", "05299", "67106"])
        #expect(
            first.words == [
                "shrimp", "moss", "newt", "opera", "modern", "duet", "proud", "palace", "insect", "anchor", "garlic",
                "ideal",
            ])
        let sender = try SenderPublicKey(
            parsing: "pushsender1rap9c6rwcs3d8pquedwhstye9genpy6z7awxnxaalf8zwl0a2dcs2dwsvj")
        let second = Fingerprint(of: sender)
        #expect(second.description == "16500 83864 59234 19994 38065 70272")
        #expect(
            second.words == [
                "amber", "curry", "paper", "bakery", "tomato", "fabric", "domino", "wooden", "raisin", "skater",
                "shadow",
                "usual",
            ])
    }

    @Test("Fingerprints match the vectors") func vectors() throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Tests/Vectors/Text/fingerprints.tsv"))
        let lines = text.split(separator: "\n").dropFirst()
        #expect(lines.count == 8)
        for line in lines {
            let parts = line.split(separator: "\t").map(String.init)
            let fingerprint = Fingerprint(kind: parts[0], bytes: try #require(Hex.decode(parts[1])))
            #expect(Self.line(of: fingerprint) == "\(parts[2]); \(parts[3])", "\(line)")
        }
    }

    #if os(Linux)
    @Test("Fingerprints match those of another implementation, written from the Specification", .blocking)
    func otherImplementation() throws {
        var random = SeededGenerator()
        let kinds = ["push", "pushsender", "another"]
        let keys = (0..<300).map { (kind: kinds[$0 % kinds.count], bytes: random.bytes(32)) }
        let script = Checkout.folder.appending(path: "Tests/Evidence/Interop/fingerprint.py").path
        let arguments = keys.flatMap { [$0.kind, Hex.encode($0.bytes)] }
        let result = try Program(at: "/usr/bin/python3").run([script] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines == keys.map { Self.line(of: Fingerprint(kind: $0.kind, bytes: $0.bytes)) })
    }
    #endif

    @Test("The same bytes as another type of key have a different fingerprint") func kinds() throws {
        let recipient = DevicePrivateKey().recipient
        let asSender = Fingerprint(of: SenderPublicKey(recipient.bytes, .x25519Seed)!)
        let asRecipient = Fingerprint(of: recipient)
        #expect(asSender != asRecipient)
        #expect(asSender.digits != asRecipient.digits)
        #expect(asSender.words != asRecipient.words)
        #expect(asSender == Fingerprint(kind: "pushsender", bytes: recipient.bytes))
    }

    @Test("A fingerprint needs a key and the name of its type; other calls stop the program") func wrongCalls() async {
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

/// Specification 12.5.
@Suite("The words of fingerprints") struct FingerprintWordsTests {
    private let words = FingerprintWords.list

    @Test("The words are those of the vectors, with the hash in the Specification") func specification() throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Docs/Specification.md"))
        let list = try Checkout.text(Checkout.folder.appending(path: "Tests/Vectors/Text/words.txt"))
        #expect(list.split(separator: "\n").map(String.init) == words)
        let hash = Array(words.map { $0 + "\n" }.joined().utf8).withUnsafeBytes { Hex.encode(SHA256.hash($0)) }
        #expect(hash == "6f43ef01bee4bd6aefe4d4477612e99824a25763b696dd71b2afc28868e79a27")
        #expect(text.contains(hash))
    }
}
