import Crypto
import TestSupport
import Testing

@testable import PushCore

@Suite("An Ed25519 public key") struct Ed25519PublicKeyTests {
    /// One in the main subgroup; below it, the same point plus one of order 8, 4 and 2.
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

    @Test("in the main subgroup is taken, and keeps its bytes") func good() throws {
        #expect(try Ed25519PublicKey(bytes(hex: Self.good)).bytes == bytes(hex: Self.good))
        for _ in 0..<20 {
            let theirs = Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)
            #expect(try Ed25519PublicKey(theirs).bytes == theirs)
        }
    }

    @Test("of low order is refused, with either sign", arguments: lowOrder) func lowOrderPoint(hex: String) {
        var key = bytes(hex: hex)
        expectRefused(key)
        key[31] ^= 0x80
        expectRefused(key)
    }

    @Test("that is mixed with a point of low order is refused", arguments: mixed)
    func mixedOrder(hex: String) { expectRefused(bytes(hex: hex)) }

    @Test("that is not below 2^255 − 19 is refused", arguments: 0..<19) func notReduced(offset: Int) {
        for top in [0x7f, 0xff] as [UInt8] {
            expectRefused([UInt8(0xed + offset)] + [UInt8](repeating: 0xff, count: 30) + [top])
        }
    }

    @Test("that is not on the curve is refused")
    func offCurve() { expectRefused([2] + [UInt8](repeating: 0, count: 31)) }

    @Test("of another length than 32 bytes is refused", arguments: [0, 1, 31, 33, 64])
    func wrongLength(count: Int) { expectRefused([UInt8](bytes(hex: Self.good) + bytes(hex: Self.good))[..<count]) }

    @Test("verifies what swift-crypto has signed") func swiftCrypto() throws {
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

    @Test("refuses a signature with any bit flipped, of any other length, or of a message with any bit flipped")
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
    /// RFC 8032 section 7.1: secret key, public key, message, signature.
    private static let vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
        (
            "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
                + "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
        ),
    ]

    @Test("gives RFC 8032's answers, section 7.1", arguments: vectors.indices) func rfc8032(index: Int) throws {
        let (secret, publicKey, message, signature) = Self.vectors[index]
        let key = Ed25519PrivateKey(bytes(hex: secret))
        #expect(key.publicKey.bytes == bytes(hex: publicKey))
        #expect(key.sign(bytes(hex: message)) == bytes(hex: signature))
        #expect(key.publicKey.verify(bytes(hex: signature), of: bytes(hex: message)))
    }

    @Test("signs what swift-crypto verifies, and has the public key that swift-crypto gives it")
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

#if os(Linux)
    import TestSupport
    import Testing

    @testable import PushCore

    @Suite("After an Ed25519 key has gone, the process's memory", .serialized) struct Ed25519WipingTests {
        /// The first 32 bytes of SHA-256 of a sentence, and both halves of its SHA-512, from which the signing scalar and
        /// the nonces come.
        private static let seed: StaticString = "0a1f3bb7a11448da5aade7e9c940fb68d161a54ce719e97dfc503aabd5cbbeba"
        private static let scalar: StaticString = "b3e0656680f18a9da71972ed7d889944b1cec4e6565fbc5873f7d4a875767882"
        private static let prefix: StaticString = "a77bdcaca6c54d7b53fa10436be3f0fc703cc4c6ff62a2b13227281054e9aa29"

        /// Every C function is called once before: the first call goes through the dynamic linker, which saves the
        /// registers on the stack, with whatever part of a secret is in them.
        init() { use(Ed25519PrivateKey.random()) }

        private func use(_ key: borrowing Ed25519PrivateKey) {
            let signature = key.sign([1, 2, 3])
            #expect(key.publicKey.verify(signature, of: [1, 2, 3]))
            #expect(!key.publicKey.verify(signature, of: [1, 2, 4]))
        }

        @Test("holds none of it, and one copy while it lives and signs") func secretKey() throws {
            let scan = MemoryScan()
            do {
                let key = Ed25519PrivateKey(copying: UnsafeRawBufferPointer(scan.secret))
                let alive = scan.copyCount()
                #expect(alive == 1)
                use(key)
                let afterUse = scan.copyCount()
                #expect(afterUse == 1)
            }
            let left = scan.copyCount()
            #expect(left == 0)
        }

        @Test("holds neither the scalar nor the prefix that it signs with, also while it lives") func derived() throws {
            let (seed, scalar, prefix) = (MemoryScan(), MemoryScan(), MemoryScan())
            fill(seed.secret, Self.seed)
            fill(scalar.secret, Self.scalar)
            fill(prefix.secret, Self.prefix)
            let key = Ed25519PrivateKey(copying: UnsafeRawBufferPointer(seed.secret))
            use(key)
            let scalarLeft = scalar.copyCount()
            #expect(scalarLeft == 0)
            let prefixLeft = prefix.copyCount()
            #expect(prefixLeft == 0)
            let seedCount = seed.copyCount()
            #expect(seedCount == 1)
            use(key)
        }

        /// Digits into bytes without a copy in between.
        private func fill(_ bytes: UnsafeMutableRawBufferPointer, _ digits: StaticString) {
            func value(_ digit: UInt8) -> UInt8 {
                digit >= UInt8(ascii: "a") ? digit - UInt8(ascii: "a") + 10 : digit - UInt8(ascii: "0")
            }
            for index in bytes.indices {
                bytes[index] = value(digits.bytes[2 * index]) << 4 | value(digits.bytes[2 * index + 1])
            }
        }
    }
#endif
