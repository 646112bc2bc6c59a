internal import Clibsodium

/// ML-KEM-768, FIPS 203, from whichever library has it: libsodium 1.0.22 or later, or swift-crypto in a server on Linux.
/// Both derive the same keys from a seed, and each decapsulates the other's ciphertexts. Thread-safe.
package enum MLKEM768 {
    package static let publicKeyByteCount = 1_184
    package static let ciphertextByteCount = 1_088
    package static let sharedSecretByteCount = 32
    /// The length of d ‖ z of FIPS 203, algorithm 16.
    package static let seedByteCount = 64

    #if DEBUG
    package static var isAvailable: Bool { implementation != nil && !isHidden }
    /// Hides ML-KEM, to test the behavior without such a library. A release build has no such switch.
    @TaskLocal static var isHidden = false
    #else
    package static var isAvailable: Bool { implementation != nil }
    #endif

    /// Whether bytes are a public key: the right length, each coefficient below 3329. Source: FIPS 203, section 7.2.
    package static func isValid(_ key: UnsafeRawBufferPointer) -> Bool {
        guard key.count == publicKeyByteCount else { return false }
        // 768 coefficients of 12 bits, two per three bytes, low bits first; then 32 bytes of any value.
        return stride(from: 0, to: publicKeyByteCount - 32, by: 3).allSatisfy { place in
            let (low, middle, high) = (UInt16(key[place]), UInt16(key[place + 1]), UInt16(key[place + 2]))
            return low | (middle & 0xf) << 8 < 3_329 && middle >> 4 | high << 4 < 3_329
        }
    }

    /// Returns the public key of a 64-byte seed; about 45 µs.
    package static func publicKey(of seed: UnsafeRawBufferPointer) -> [UInt8] {
        precondition(seed.count == seedByteCount)
        return required.publicKey(seed)
    }

    /// Creates a fresh shared secret for a valid key, and the 1,088 bytes that carry it; about 50 µs.
    package static func encapsulate(to key: ArraySlice<UInt8>) -> Encapsulation {
        precondition(key.count == publicKeyByteCount)
        var ciphertext = [UInt8](repeating: 0, count: ciphertextByteCount)
        let secret = WipedBytes(count: sharedSecretByteCount) { secret in
            key.withUnsafeBytes { key in
                ciphertext.withUnsafeMutableBytes { required.encapsulate(key, $0, secret) }
            }
        }
        return Encapsulation(sharedSecret: secret, ciphertext: ciphertext)
    }

    package struct Encapsulation: ~Copyable {
        package let sharedSecret: WipedBytes
        package let ciphertext: [UInt8]
    }

    /// Returns the secret in a 1,088-byte ciphertext; about 110 µs. If altered, it yields another secret (FIPS 203).
    package static func decapsulate(
        _ ciphertext: UnsafeRawBufferPointer, with seed: UnsafeRawBufferPointer
    ) -> WipedBytes {
        precondition(ciphertext.count == ciphertextByteCount && seed.count == seedByteCount)
        return WipedBytes(count: sharedSecretByteCount) { required.decapsulate(ciphertext, seed, $0) }
    }

    /// The functions of a library. Each one writes all of its output or stops the program.
    struct Implementation: Sendable {
        let publicKey: @Sendable (_ seed: UnsafeRawBufferPointer) -> [UInt8]
        let encapsulate:
            @Sendable (
                _ key: UnsafeRawBufferPointer, _ ciphertext: UnsafeMutableRawBufferPointer,
                _ secret: UnsafeMutableRawBufferPointer
            ) -> Void
        let decapsulate:
            @Sendable (
                _ ciphertext: UnsafeRawBufferPointer, _ seed: UnsafeRawBufferPointer,
                _ secret: UnsafeMutableRawBufferPointer
            ) -> Void
    }

    static let implementation = libsodium ?? swiftCrypto

    private static var required: Implementation {
        guard let implementation else {
            preconditionFailure("no library here supports ML-KEM, so keys that need it must be rejected first")
        }
        return implementation
    }
}

extension MLKEM768 {
    /// nil if libsodium is older than 1.0.22.
    static let libsodium: Implementation? = {
        Sodium.ready()
        @Sendable func keyPair(_ seed: UnsafeRawBufferPointer, _ secretKey: UnsafeMutableRawBufferPointer) -> [UInt8] {
            var key = [UInt8](repeating: 0, count: publicKeyByteCount)
            let status = crypto_kem_mlkem768_seed_keypair(&key, secretKey.bound, seed.bound)
            precondition(status == 0)
            return key
        }
        let secretKeyByteCount = 2_400
        // On Linux, if the library has no ML-KEM, Clibsodium's header defines a function that always fails.
        var trial = [UInt8](repeating: 0, count: publicKeyByteCount + secretKeyByteCount)
        let isThere = trial.withUnsafeMutableBytes { trial in
            let secretKey = UnsafeMutableRawBufferPointer(rebasing: trial[publicKeyByteCount...])
            return crypto_kem_mlkem768_seed_keypair(trial.bound, secretKey.bound, [UInt8](repeating: 0, count: 64)) == 0
        }
        guard isThere else { return nil }
        return Implementation(
            publicKey: { seed in
                var key: [UInt8] = []
                _ = WipedBytes(count: secretKeyByteCount) { key = keyPair(seed, $0) }
                return key
            },
            encapsulate: { key, ciphertext, secret in
                let status = crypto_kem_mlkem768_enc(ciphertext.bound, secret.bound, key.bound)
                precondition(status == 0)
            },
            decapsulate: { ciphertext, seed, secret in
                let secretKey = WipedBytes(count: secretKeyByteCount) { _ = keyPair(seed, $0) }
                let status = secretKey.withBytes {
                    crypto_kem_mlkem768_dec(secret.bound, ciphertext.bound, $0.bound)
                }
                precondition(status == 0)
            })
    }()
}
