import Crypto
import TestSupport
import Testing

@testable import PushCore

@Suite("An Ed25519 public key") struct Ed25519PublicKeyTests {
    /// A point in the main subgroup; then the same point plus one of order 8, 4, and 2.
    private static let good = "7767a3242dc9b58bbc68488c1265cc6cc5f26c6f3c88a5d55e901b0734dca572"
    private static let mixed = [
        "b15bf26424d1b69dd33b7a9e57db5de4a2aadea4a2a051efd9bfd6af74165d2b",
        "937bf8c94581538ba43ea9a0d4df52e33040748d553200c28e2d06a6f4b6e38e",
        "76985cdbd2364a744397b773ed9a33933a0d9390c3775a2aa16fe4f8cb235a8d",
    ]
    private static let lowOrder = [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ]

    @Test("A public key in the main subgroup is accepted and keeps its bytes") func good() throws {
        #expect(try Ed25519PublicKey(bytes(hex: Self.good)).bytes == bytes(hex: Self.good))
        for _ in 0..<20 {
            let theirs = Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)
            #expect(try Ed25519PublicKey(theirs).bytes == theirs)
        }
    }

    @Test("A public key of low order is rejected, with either sign", arguments: lowOrder)
    func lowOrderPoint(hex: String) {
        var key = bytes(hex: hex)
        expectRefused(key)
        key[31] ^= 0x80
        expectRefused(key)
    }

    @Test("A public key mixed with a point of low order is rejected", arguments: mixed)
    func mixedOrder(hex: String) { expectRefused(bytes(hex: hex)) }

    @Test("A public key that is not below 2^255 − 19 is rejected", arguments: 0..<19) func notReduced(offset: Int) {
        for top in [0x7f, 0xff] as [UInt8] {
            expectRefused([UInt8(0xed + offset)] + [UInt8](repeating: 0xff, count: 30) + [top])
        }
    }

    @Test("A public key that is not on the curve is rejected")
    func offCurve() { expectRefused([2] + [UInt8](repeating: 0, count: 31)) }

    @Test("A public key of any length but 32 bytes is rejected", arguments: [0, 1, 31, 33, 64])
    func wrongLength(count: Int) { expectRefused([UInt8](bytes(hex: Self.good) + bytes(hex: Self.good))[..<count]) }

    @Test("A public key verifies swift-crypto's signatures") func swiftCrypto() throws {
        var random = SeededGenerator()
        for count in [0, 1, 63, 64, 200, 5_000] {
            let message = random.bytes(count)
            let theirs = Curve25519.Signing.PrivateKey()
            let key = try Ed25519PublicKey(theirs.publicKey.rawRepresentation)
            let signature = Array(try theirs.signature(for: message))
            #expect(key.verify(signature, of: message))
            #expect(!key.verify(signature, of: message + [0]))
            #expect(!Ed25519PrivateKey.random().publicKey.verify(signature, of: message))
        }
    }

    @Test("A signature is rejected with any bit flipped, at any other length, or for a message with any bit flipped")
    func tampered() {
        let key = Ed25519PrivateKey.random()
        var message = Array("a message".utf8)
        var signature = key.sign(message)
        for bit in 0..<signature.count * 8 {
            signature[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.publicKey.verify(signature, of: message))
            signature[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        for bit in 0..<message.count * 8 {
            message[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!key.publicKey.verify(signature, of: message))
            message[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        for count in 0..<64 { #expect(!key.publicKey.verify(signature[..<count], of: message)) }
        #expect(!key.publicKey.verify(signature + [0], of: message))
        #expect(!key.publicKey.verify([], of: message))
        #expect(key.publicKey.verify(signature, of: message))
    }

    private func expectRefused(_ key: some Sequence<UInt8>, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(throws: Ed25519Error.invalidPublicKey, sourceLocation: sourceLocation) { try Ed25519PublicKey(key) }
        #expect(throws: Ed25519Error.invalidPublicKey, sourceLocation: sourceLocation) {
            try Array(key).withUnsafeBytes { try Ed25519PublicKey($0) }
        }
    }
}

@Suite("An Ed25519 secret key") struct Ed25519SecretKeyTests {
    @Test("A secret key's signatures verify in swift-crypto, and its public key is the one from swift-crypto")
    func swiftCrypto() throws {
        var random = SeededGenerator()
        for count in [0, 1, 127, 128, 129, 4_000] {
            let message = random.bytes(count)
            let theirs = Curve25519.Signing.PrivateKey()
            let ours = Ed25519PrivateKey(Array(theirs.rawRepresentation))
            #expect(ours.publicKey.bytes == Array(theirs.publicKey.rawRepresentation))
            #expect(theirs.publicKey.isValidSignature(ours.sign(message), for: message))
        }
    }
}
