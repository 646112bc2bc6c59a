#if os(Linux)
    import TestSupport
    import Testing

    @testable import PushCore

    @Suite("After an Ed25519 key has gone, the process's memory", .serialized)
    struct Ed25519WipingTests {
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

        @Test("holds none of it, and one copy while it lives and signs")
        func secretKey() throws {
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

        @Test("holds neither the scalar nor the prefix that it signs with, also while it lives")
        func derived() throws {
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
