/// Which Ed25519 public keys are refused, written a second time from Specification 8.6 and RFC 8032 section 5.1, in plain
/// arithmetic: to compare with the project's own. Not in constant time.
public enum Ed25519Rule {
    public static func isSafe(_ key: [UInt8]) -> Bool {
        guard let point = EdwardsPoint(key) else { return false }
        return point.times(groupOrder).isIdentity && !point.times([8]).isIdentity
    }

    /// Keys on which an implementation may stumble: of low order, mixed with such a point, or not canonical.
    public static let edges: [[UInt8]] = {
        var edges = lowOrder
        for first: UInt8 in [0xec, 0xed, 0xee, 0xff] {
            edges.append([first] + [UInt8](repeating: 0xff, count: 30) + [0x7f])
        }
        for point in lowOrder.compactMap(EdwardsPoint.init) {
            edges.append((EdwardsPoint.base + point).bytes)
        }
        for var key in edges {
            key[31] ^= 0x80
            edges.append(key)
        }
        return edges
    }()

    /// L = 2^252 + 27742317777372353535851937790883648493, little endian.
    public static let groupOrder = Hexadecimal.bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")

    /// Of order 1, 2, 4, 8 and 8; the others differ in the sign bit.
    private static let lowOrder = [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ].map(Hexadecimal.bytes)
}

/// A point of edwards25519 as X/Z and Y/Z, with T = XY/Z. Source: RFC 8032 sections 5.1.2 to 5.1.4.
struct EdwardsPoint {
    private var x: FieldNumber
    private var y: FieldNumber
    private var z: FieldNumber
    private var t: FieldNumber

    private init(x: FieldNumber, y: FieldNumber, z: FieldNumber, t: FieldNumber) {
        (self.x, self.y, self.z, self.t) = (x, y, z, t)
    }

    private static let identity = EdwardsPoint(x: .zero, y: .one, z: .one, t: .zero)
    /// The base point B, whose y is 4/5.
    static let base: EdwardsPoint = {
        guard let base = EdwardsPoint([0x58] + [UInt8](repeating: 0x66, count: 31)) else { fatalError("no base point") }
        return base
    }()
    private static let d = (FieldNumber.zero - FieldNumber(121_665)) * FieldNumber(121_666).inverse
    private static let rootOfMinusOne = FieldNumber(2).power(FieldNumber.exponent(first: 0xfb, last: 0x1f))

    /// Nil unless these 32 bytes are the one encoding of a point.
    init?(_ bytes: [UInt8]) {
        let isOdd = bytes[31] >> 7 == 1
        guard let y = FieldNumber(canonical: bytes[..<31] + [bytes[31] & 0x7f]) else { return nil }
        let (u, v) = (y * y - .one, Self.d * y * y + .one)
        let cube = v * v * v
        var x = u * cube * (u * cube * cube * v).power(FieldNumber.exponent(first: 0xfd, last: 0x0f))
        if !(v * x * x - u).isZero { x = x * Self.rootOfMinusOne }
        guard (v * x * x - u).isZero, !(x.isZero && isOdd) else { return nil }
        if x.isOdd != isOdd { x = .zero - x }
        self.init(x: x, y: y, z: .one, t: x * y)
    }

    var bytes: [UInt8] {
        let inverse = z.inverse
        var bytes = (y * inverse).bytes
        if (x * inverse).isOdd { bytes[31] |= 0x80 }
        return bytes
    }

    var isIdentity: Bool { x.isZero && (y - z).isZero }

    static func + (one: EdwardsPoint, other: EdwardsPoint) -> EdwardsPoint {
        let a = (one.y - one.x) * (other.y - other.x)
        let b = (one.y + one.x) * (other.y + other.x)
        let c = (one.t + one.t) * d * other.t
        let f = (one.z + one.z) * other.z
        let (e, g, h, i) = (b - a, f - c, f + c, b + a)
        return EdwardsPoint(x: e * g, y: h * i, z: g * h, t: e * i)
    }

    /// - Parameter number: little endian.
    func times(_ number: [UInt8]) -> EdwardsPoint {
        var product = Self.identity
        for byte in number.reversed() {
            for bit in (0..<8).reversed() {
                product = product + product
                if byte >> bit & 1 == 1 { product = product + self }
            }
        }
        return product
    }
}
