/// A second implementation of Bech32 (BIP 173), without any check, to create valid and invalid key texts.
public enum Bech32Rule {
    /// Returns the text of five-bit groups, with a checksum that matches them and the constant.
    public static func text(prefix: String, groups: [UInt8], constant: UInt32 = 1) -> String {
        let all = groups + checksum(prefix, groups, constant)
        return prefix + "1" + String(decoding: all.map { alphabet[Int($0)] }, as: UTF8.self)
    }

    /// Returns the groups of a key's bytes, such as 52 for 32 bytes.
    public static func groups(_ bytes: [UInt8]) -> [UInt8] { regroup(bytes, from: 8, to: 5, padding: 4) }

    /// Returns the bytes in a key's groups, such as 32 in 52 groups, without the bits after them.
    public static func bytes(_ groups: [UInt8]) -> [UInt8] { regroup(groups, from: 5, to: 8, padding: 0) }

    private static func regroup(_ groups: [UInt8], from width: Int, to newWidth: Int, padding: Int) -> [UInt8] {
        (0..<(width * groups.count + padding) / newWidth).map { index in
            var group: UInt8 = 0
            for bit in newWidth * index..<newWidth * (index + 1) {
                let old = bit / width < groups.count ? groups[bit / width] : 0
                group = group << 1 | old >> (width - 1 - bit % width) & 1
            }
            return group
        }
    }

    /// Returns the bytes of a key's text that is known to be valid.
    public static func bytes(ofKey text: String) -> [UInt8] {
        let data = text.lowercased().utf8.split(separator: UInt8(ascii: "1")).last?.dropLast(6) ?? []
        return bytes(data.map { UInt8(alphabet.firstIndex(of: $0) ?? 0) })
    }

    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

    /// Source: BIP 173, "Checksum".
    private static func checksum(_ prefix: String, _ groups: [UInt8], _ constant: UInt32) -> [UInt8] {
        var sum: UInt32 = 1
        let start = prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
        for group in start + groups + [0, 0, 0, 0, 0, 0] {
            let top = sum >> 25
            sum = (sum & 0x1ff_ffff) << 5 ^ UInt32(group)
            if top & 1 != 0 { sum ^= 0x3b6a_57b2 }
            if top & 2 != 0 { sum ^= 0x2650_8e6d }
            if top & 4 != 0 { sum ^= 0x1ea1_19fa }
            if top & 8 != 0 { sum ^= 0x3d42_33dd }
            if top & 16 != 0 { sum ^= 0x2a14_62b3 }
        }
        sum ^= constant
        return (0..<6).map { UInt8(sum >> (25 - 5 * $0) & 31) }
    }
}
