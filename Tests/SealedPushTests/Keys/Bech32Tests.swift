import TestSupport
import Testing

@testable import PushCore
@testable import SealedPush

@Suite("Bech32") struct Bech32Tests {
    /// BIP 173, "Test vectors".
    private static let valid = [
        "A12UEL5L", "a12uel5l",
        "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
        "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
        "11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j",
        "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w", "?1ezyfcl",
    ]
    private static let invalid = [
        "\u{20}1nwldj5", "\u{7f}1axkwrx", "\u{80}1eym55h",
        "an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx",
        "pzry9x0s0muk", "1pzry9x0s0muk", "x1b4n0q5v", "li1dgmt3", "A1G7SGD8", "10a06t8", "1qzzfhee",
    ]

    @Test("The reference that was written for these tests passes BIP 173's own vectors") func reference() {
        for text in Self.valid { #expect(ReferenceBech32.isValid(text)) }
        for text in Self.invalid { #expect(!ReferenceBech32.isValid(text)) }
    }

    @Test("A text is rejected for the reason that BIP 173's vectors intend") func reasons() {
        #expect(refusal(Self.invalid[3], prefix: "") == .tooLong)
        #expect(refusal("pzry9x0s0muk", prefix: "pzry9x0s0muk") == .notAKey)
        #expect(refusal("x1b4n0q5v", prefix: "x") == .wrongLength)
        #expect(refusal("split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w", prefix: "spli") == .wrongKind)
        #expect(refusal("A12uEL5L", prefix: "a") == .mixedCase)
    }

    @Test("The implementation agrees with the reference, for random keys under any prefix that fits")
    func agreement() throws {
        var random = SeededGenerator()
        for prefix in ["a", "?", "push", "pushsender", "with1digit1", String(repeating: "x", count: 31)] {
            for _ in 0..<20 {
                let key = random.bytes(32)
                let text = ReferenceBech32.encode(prefix, bytes: key)
                let ours = key.withUnsafeBytes { Bech32.encode($0, prefix: prefix, inCapitals: false).array }
                #expect(ours == Array(text.utf8))
                let capitals = key.withUnsafeBytes { Bech32.encode($0, prefix: prefix, inCapitals: true).array }
                #expect(capitals == Array(text.uppercased().utf8))
                #expect(try decode(text, prefix: prefix) == key)
                #expect(try decode(text.uppercased(), prefix: prefix) == key)
            }
        }
    }

    @Test("A text with nonzero padding bits is rejected, although its checksum is valid") func padBits() {
        var random = SeededGenerator()
        let groups = ReferenceBech32.groups(of: random.bytes(32))
        for bits in 1...15 {
            let text = ReferenceBech32.encode("push", groups: groups.dropLast() + [groups[51] | bits])
            #expect(ReferenceBech32.isValid(text))
            #expect(refusal(text, prefix: "push") == .wrongLength)
        }
    }

    @Test("Another number of bytes is rejected, although the checksum is valid", arguments: [0, 1, 20, 31, 33, 40])
    func otherLengths(count: Int) {
        let text = ReferenceBech32.encode("push", bytes: [UInt8](repeating: 9, count: count))
        #expect(ReferenceBech32.isValid(text))
        #expect(refusal(text, prefix: "push") == .wrongLength)
    }

    @Test("Bech32m is rejected: the constant is 1") func bech32m() {
        var random = SeededGenerator()
        let groups = ReferenceBech32.groups(of: random.bytes(32))
        let text = ReferenceBech32.encode("push", groups: groups, constant: 0x2bc8_30a3)
        #expect(refusal(text, prefix: "push") == .wrongChecksum)
    }

    @Test("Up to four wrong characters are always detected") func fourErrors() {
        var random = SeededGenerator()
        let right = Array(ReferenceBech32.encode("push", bytes: random.bytes(32)))
        for _ in 0..<2_000 {
            var text = right
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 5..<text.count, using: &random)
                text[place] = ReferenceBech32.alphabet.randomElement(using: &random)!
            }
            guard text != right else { continue }
            #expect(refusal(String(text), prefix: "push") == .wrongChecksum)
        }
    }

    @Test("Every byte in place of a character is treated as the alphabet specifies") func everyByte() {
        var random = SeededGenerator()
        let right = Array(ReferenceBech32.encode("push", bytes: random.bytes(32)).utf8)
        for place in [5, 30, right.count - 1] {
            for byte in UInt8.min...UInt8.max where byte != right[place] {
                var bytes = right
                bytes[place] = byte
                // A letter's capital is the other case of the same key.
                let expected: KeyTextError =
                    switch byte {
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"): .mixedCase
                    case UInt8(ascii: "1"): .wrongKind
                    case _ where ReferenceBech32.alphabet.contains(Character(UnicodeScalar(byte))): .wrongChecksum
                    default: .wrongCharacter
                    }
                let scratch = WipedBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
                #expect(throws: expected, "\(byte) at \(place)") {
                    try scratch.withBytes { try Bech32.decode($0, as: Bech32.Form("push", byteCount: 32)).array }
                }
            }
        }
    }

    private func decode(_ text: String, prefix: String) throws(KeyTextError) -> [UInt8] {
        let scratch = WipedBytes(count: max(1, text.utf8.count)) { $0.copyBytes(from: text.utf8) }
        return try scratch.withBytes { (bytes) throws(KeyTextError) in
            try Bech32.decode(bytes, as: Bech32.Form(prefix, byteCount: 32)).array
        }
    }

    private func refusal(_ text: String, prefix: String) -> KeyTextError? {
        SealedPushTests.refusal { () throws(KeyTextError) in _ = try decode(text, prefix: prefix) }
    }
}

extension WipedBytes {
    var array: [UInt8] { withBytes { Array($0) } }
}

/// A second implementation of BIP 173, as plain as its own reference code, to check the package's.
enum ReferenceBech32 {
    static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")

    /// Returns the text of five-bit groups under a human-readable part; `constant` is 1, or Bech32m's 0x2bc830a3.
    static func encode(_ prefix: String, groups: [Int], constant: Int = 1) -> String {
        let sum = polymod(expand(prefix) + groups + [0, 0, 0, 0, 0, 0]) ^ constant
        let checksum = (0..<6).map { sum >> (5 * (5 - $0)) & 31 }
        return prefix + "1" + String((groups + checksum).map { alphabet[$0] })
    }

    /// Returns the text of whole bytes.
    static func encode(_ prefix: String, bytes: [UInt8]) -> String { encode(prefix, groups: groups(of: bytes)) }

    /// Whether a text of any length is valid Bech32.
    static func isValid(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard scalars.count <= 90, scalars.allSatisfy({ (33...126).contains($0.value) }),
            text == text.lowercased() || text == text.uppercased(), let separator = text.lowercased().lastIndex(of: "1")
        else { return false }
        let small = text.lowercased()
        let prefix = String(small[..<separator])
        let groups = small[small.index(after: separator)...].map { alphabet.firstIndex(of: $0) }
        guard !prefix.isEmpty, groups.count >= 6, !groups.contains(nil) else { return false }
        return polymod(expand(prefix) + groups.map { $0! }) == 1
    }

    /// Converts eight-bit to five-bit groups, padded with zeros.
    static func groups(of bytes: [UInt8]) -> [Int] {
        var bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> UInt8(7 - $0)) & 1 } }
        while bits.count % 5 != 0 { bits.append(0) }
        return stride(from: 0, to: bits.count, by: 5).map { bits[$0..<$0 + 5].reduce(0) { $0 << 1 | $1 } }
    }

    private static func expand(_ prefix: String) -> [Int] {
        let values = prefix.utf8.map(Int.init)
        return values.map { $0 >> 5 } + [0] + values.map { $0 & 31 }
    }

    private static func polymod(_ values: [Int]) -> Int {
        values.reduce(1) { sum, value in
            let top = sum >> 25
            let generators = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
            return generators.enumerated().reduce((sum & 0x1ff_ffff) << 5 ^ value) {
                top >> $1.offset & 1 == 1 ? $0 ^ $1.element : $0
            }
        }
    }
}
