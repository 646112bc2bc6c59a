/// BIP 173 written out once more, as plainly as its own reference code, to check the package's against.
enum ReferenceBech32 {
    static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")

    /// The text of five-bit groups under a human-readable part; `constant` is 1, or Bech32m's 0x2bc830a3.
    static func encode(_ prefix: String, groups: [Int], constant: Int = 1) -> String {
        let sum = polymod(expand(prefix) + groups + [0, 0, 0, 0, 0, 0]) ^ constant
        let checksum = (0..<6).map { sum >> (5 * (5 - $0)) & 31 }
        return prefix + "1" + String((groups + checksum).map { alphabet[$0] })
    }

    /// The text of whole bytes.
    static func encode(_ prefix: String, bytes: [UInt8]) -> String { encode(prefix, groups: groups(of: bytes)) }

    /// Whether a text of any length is valid Bech32.
    static func isValid(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard scalars.count <= 90, scalars.allSatisfy({ (33...126).contains($0.value) }),
            text == text.lowercased() || text == text.uppercased(),
            let separator = text.lowercased().lastIndex(of: "1")
        else { return false }
        let small = text.lowercased()
        let prefix = String(small[..<separator])
        let groups = small[small.index(after: separator)...].map { alphabet.firstIndex(of: $0) }
        guard !prefix.isEmpty, groups.count >= 6, !groups.contains(nil) else { return false }
        return polymod(expand(prefix) + groups.map { $0! }) == 1
    }

    /// Eight bits to five, filled up with zeros.
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
