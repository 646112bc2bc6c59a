/// Which public keys must be rejected: a second implementation of Specification 3.3 and 3.8.2, to check the project's.
public enum X25519Rule {
    public static func isSafe(_ key: [UInt8]) -> Bool {
        let number = Array(key.reversed())
        return number[0] < 0x80 && number.lexicographicallyPrecedes(prime) && !lowOrder.contains(key)
    }

    /// The same for a device's key. A hybrid key has 768 coefficients of 12 bits and 32 bytes before its X25519 part.
    public static func isSafe(device key: [UInt8]) -> Bool {
        stride(from: 0, to: key.count - 64, by: 3).allSatisfy { place in
            let (low, middle, high) = (Int(key[place]), Int(key[place + 1]), Int(key[place + 2]))
            return low + middle % 16 * 256 < 3_329 && middle / 16 + high * 16 < 3_329
        } && isSafe(Array(key.suffix(32)))
    }

    /// Edge cases for implementations: keys of low order, and around 2^255 − 19 and 2^255.
    public static let edges: [[UInt8]] = {
        var edges = lowOrder
        for first: UInt8 in [0xeb, 0xed, 0xee, 0xff] {
            edges.append([first] + [UInt8](repeating: 0xff, count: 30) + [0x7f])
        }
        for var key in lowOrder {
            key[31] |= 0x80
            edges.append(key)
        }
        return edges
    }()

    /// 2^255 − 19, big endian.
    private static let prime = [0x7f] + [UInt8](repeating: 0xff, count: 30) + [0xed]

    private static let lowOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ].map(Hexadecimal.bytes)
}
