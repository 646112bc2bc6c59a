import TestSupport
import Testing

@testable import PushCore

/// Specification 3.3.
@Suite("An X25519 public key") struct X25519PublicKeyTests {
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

    @Test("A public key of low order is rejected, with and without bit 255", arguments: lowOrder)
    func lowOrderPoint(hex: String) {
        expectRefused(bytes(hex: hex))
        expectRefused(Self.withTopBit(bytes(hex: hex)))
    }

    @Test("A public key that is not below 2^255 − 19 is rejected, up to 2^255 − 1", arguments: 0..<19)
    func notReduced(offset: Int) {
        expectRefused(Self.prime(plus: offset))
        expectRefused(Self.withTopBit(Self.prime(plus: offset)))
    }

    @Test("A public key just below 2^255 − 20 is accepted, and so is one with a lower high byte")
    func largest() throws {
        #expect(try X25519PublicKey(Self.prime(plus: -2)).bytes == Self.prime(plus: -2))
        for index in 1..<32 {
            var key = Self.prime(plus: 18)
            key[index] -= 1
            #expect(try X25519PublicKey(key).bytes == key)
        }
    }

    @Test("A public key with bit 255 set is rejected, whatever the rest is") func topBit() throws {
        for _ in 0..<100 {
            let key = X25519PrivateKey.random().publicKey.bytes
            #expect(try X25519PublicKey(key).bytes == key)
            expectRefused(Self.withTopBit(key))
        }
    }

    @Test("A public key of any length but 32 bytes is rejected", arguments: [0, 1, 31, 33, 64])
    func wrongLength(count: Int) { expectRefused([UInt8](repeating: 9, count: count)) }

    @Test("A public key is read from any memory address as from an array") func unaligned() throws {
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

@Suite("A sealed box") struct SealedBoxTests {
    private let plaintext = Array("no one says who wrote this".utf8)

    @Test("A sealed box opens under its key at every length up to 200 bytes", arguments: [0...100, 101...200])
    func roundTrip(counts: ClosedRange<Int>) {
        var random = SeededGenerator()
        let key = X25519PrivateKey.random()
        for count in counts {
            let plaintext = random.bytes(count)
            #expect(open(seal(plaintext, to: key.publicKey), with: key) == plaintext)
        }
    }

    @Test("A sealed box is 48 bytes longer than its plaintext, and is new each time") func fresh() {
        let key = X25519PrivateKey.random()
        let boxes = (0..<5).map { _ in seal(plaintext, to: key.publicKey) }
        #expect(boxes.allSatisfy { $0.count == plaintext.count + 48 })
        #expect(Set(boxes).count == 5)
    }

    @Test("A sealed box does not open with one bit changed, including the ephemeral key's top bit") func everyBit() {
        let key = X25519PrivateKey.random()
        let box = seal(plaintext, to: key.publicKey)
        for bit in 0..<box.count * 8 {
            var altered = box
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(open(altered, with: key) == nil)
        }
    }

    @Test("A sealed box does not open if it is cut, or if anything is added") func everyCut() {
        let key = X25519PrivateKey.random()
        let box = seal(plaintext, to: key.publicKey)
        for count in 0..<box.count { #expect(open(Array(box[..<count]), with: key) == nil) }
        #expect(open(box + [0], with: key) == nil)
        #expect(open([0] + box, with: key) == nil)
    }

    @Test("A sealed box opens only into a buffer of the right length") func wrongBuffer() {
        let key = X25519PrivateKey.random()
        let box = seal(plaintext, to: key.publicKey)
        for count in [0, plaintext.count - 1, plaintext.count + 1] {
            var isOpen = true
            box.withUnsafeBytes { box in _ = output(count) { isOpen = SealedBox.open(box, with: key, into: $0) } }
            #expect(!isOpen)
        }
    }

    private func seal(_ plaintext: [UInt8], to recipient: X25519PublicKey) -> [UInt8] {
        output(plaintext.count + 48) { output in
            plaintext.withUnsafeBytes { SealedBox.seal($0, to: recipient, into: output) }
        }
    }

    private func open(_ box: [UInt8], with key: borrowing X25519PrivateKey) -> [UInt8]? {
        var plaintext = [UInt8](repeating: 0xaa, count: max(0, box.count - 48))
        let isOpen = plaintext.withUnsafeMutableBytes { plaintext in
            box.withUnsafeBytes { SealedBox.open($0, with: key, into: plaintext) }
        }
        return isOpen ? plaintext : nil
    }
}
