import TestSupport
import Testing

@testable import PushCore

/// Specification 3.3.
@Suite("An X25519 public key")
struct X25519PublicKeyTests {
    private static let lowOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]

    /// The number 2^255 − 19 + `offset`, little endian.
    private static func prime(plus offset: Int) -> [UInt8] {
        [UInt8(0xed + offset)] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
    }

    private static func withTopBit(_ key: [UInt8]) -> [UInt8] { key[..<31] + [key[31] | 0x80] }

    @Test("of low order is refused, with bit 255 and without", arguments: lowOrder)
    func lowOrderPoint(hex: String) {
        expectRefused(bytes(hex: hex))
        expectRefused(Self.withTopBit(bytes(hex: hex)))
    }

    @Test("that is not below 2^255 − 19 is refused, up to 2^255 − 1", arguments: 0..<19)
    func notReduced(offset: Int) {
        expectRefused(Self.prime(plus: offset))
        expectRefused(Self.withTopBit(Self.prime(plus: offset)))
    }

    @Test("just below 2^255 − 20 is taken, and so is one with a high byte less")
    func largest() throws {
        #expect(try X25519PublicKey(Self.prime(plus: -2)).bytes == Self.prime(plus: -2))
        for index in 1..<32 {
            var key = Self.prime(plus: 18)
            key[index] -= 1
            #expect(try X25519PublicKey(key).bytes == key)
        }
    }

    @Test("with bit 255 set is refused, whatever the rest")
    func topBit() throws {
        for _ in 0..<100 {
            let key = X25519PrivateKey.random().publicKey.bytes
            #expect(try X25519PublicKey(key).bytes == key)
            expectRefused(Self.withTopBit(key))
        }
    }

    @Test("of another length than 32 bytes is refused", arguments: [0, 1, 31, 33, 64])
    func wrongLength(count: Int) { expectRefused([UInt8](repeating: 9, count: count)) }

    @Test("is read from memory at any address as from an array")
    func unaligned() throws {
        let key = X25519PrivateKey.random().publicKey
        for shift in 0..<8 {
            let padded = [UInt8](repeating: 0, count: shift) + key.bytes
            let read = try padded.withUnsafeBytes {
                try X25519PublicKey(UnsafeRawBufferPointer(rebasing: $0[shift...]))
            }
            #expect(read == key)
            #expect(read.hashValue == key.hashValue)
        }
    }

    private func expectRefused(_ key: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: X25519Error.invalidPublicKey, sourceLocation: sourceLocation) { try X25519PublicKey(key) }
        #expect(throws: X25519Error.invalidPublicKey, sourceLocation: sourceLocation) {
            try key.withUnsafeBytes { try X25519PublicKey($0) }
        }
    }
}
