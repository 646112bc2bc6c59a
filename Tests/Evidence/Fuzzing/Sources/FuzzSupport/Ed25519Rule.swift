import CRawSodium

/// Which Ed25519 public keys must be rejected, determined differently than in the project. Source: Specification 8.6.
public enum Ed25519Rule {
    /// Whether a key is safe. A point P of the main subgroup equals 1/8 times 8P; other points and encodings don't.
    public static func isSafe(_ key: [UInt8]) -> Bool {
        var multiple = key
        for _ in 0..<3 {
            guard let double = sum(multiple, multiple) else { return false }
            multiple = double
        }
        var product = [UInt8](repeating: 0, count: 32)
        return crypto_scalarmult_ed25519_noclamp(&product, eighth, multiple) == 0 && product == key
    }

    /// Edge cases for implementations: keys of low order, mixed with such a point, or not canonical.
    public static let edges: [[UInt8]] = {
        var edges = lowOrder
        for first: UInt8 in [0xec, 0xed, 0xee, 0xff] {
            edges.append([first] + [UInt8](repeating: 0xff, count: 30) + [0x7f])
        }
        edges += lowOrder.compactMap { sum(base, $0) }
        for var key in edges {
            key[31] ^= 0x80
            edges.append(key)
        }
        return edges
    }()

    /// L = 2^252 + 27742317777372353535851937790883648493, little endian.
    public static let groupOrder = Hexadecimal.bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")

    /// Returns nil unless both are points.
    private static func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8]? {
        var sum = [UInt8](repeating: 0, count: 32)
        return crypto_core_ed25519_add(&sum, one, other) == 0 ? sum : nil
    }

    /// 1/8 modulo L.
    private static let eighth: [UInt8] = {
        var eighth = [UInt8](repeating: 0, count: 32)
        demand(
            crypto_core_ed25519_scalar_invert(&eighth, [8] + [UInt8](repeating: 0, count: 31)) == 0, "no inverse of 8")
        return eighth
    }()
    private static let base = [0x58] + [UInt8](repeating: 0x66, count: 31)

    /// Points of order 1, 2, 4, 8, and 8; the others differ in the sign bit.
    private static let lowOrder = [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ].map(Hexadecimal.bytes)
}
