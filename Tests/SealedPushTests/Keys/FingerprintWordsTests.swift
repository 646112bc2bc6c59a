import Foundation
import TestSupport
import Testing

@testable import PushCore
@testable import SealedPush

/// Specification 12.5.
@Suite("The words of fingerprints")
struct FingerprintWordsTests {
    private let words = FingerprintWords.list

    @Test("are 256, sorted, each of four to six small letters")
    func form() {
        #expect(words.count == 256)
        #expect(words == words.sorted())
        #expect(words.allSatisfy { (4...6).contains($0.count) && $0.allSatisfy { ("a"..."z").contains($0) } })
    }

    @Test("differ in their first four letters, and any two in at least two letters")
    func distances() {
        #expect(Set(words.map { $0.prefix(4) }).count == words.count)
        #expect(Self.distance("robot", "robin") == 2)
        #expect(Self.distance("cloud", "loud") == 1)
        #expect(Self.distance("story", "storm") == 1)
        var tried = 0
        for (index, word) in words.enumerated() {
            for other in words[..<index] {
                #expect(Self.distance(word, other) >= 2, "\(word), \(other)")
                tried += 1
            }
        }
        #expect(tried == 256 * 255 / 2)
    }

    @Test("are those of the Specification, under the hash that it gives")
    func specification() throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Docs/Specification.md"))
        let block = try #require(text.firstMatch(of: /```words\n([^`]*)```/)).1
        #expect(block.split { $0 == " " || $0 == "\n" }.map(String.init) == words)
        let hash = Array(words.map { $0 + "\n" }.joined().utf8).withUnsafeBytes { Hex.encode(SHA256.hash($0)) }
        #expect(hash == "6f43ef01bee4bd6aefe4d4477612e99824a25763b696dd71b2afc28868e79a27")
        #expect(text.contains(hash))
    }

    /// How many letters have to be changed, added or dropped.
    private static func distance(_ first: String, _ second: String) -> Int {
        let second = Array(second)
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for place in second.indices {
                let changed = diagonal + (letter == second[place] ? 0 : 1)
                diagonal = row[place + 1]
                row[place + 1] = min(changed, diagonal + 1, row[place] + 1)
            }
        }
        return row[second.count]
    }
}
