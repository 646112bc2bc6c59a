internal import Clibsodium

/// Ed25519 signatures. The 32 secret bytes are RFC 8032's private key, which libsodium calls the seed.
/// Source: RFC 8032 section 5.1; libsodium, "Public-key signatures", "Point*scalar multiplication".
package enum Ed25519 {
    package static let publicByteCount = 32
    package static let secretByteCount = 32
    package static let signatureByteCount = 64

    /// Whether 32 bytes are a public key that is safe to use: canonical, on the curve, and in the main subgroup, thus not
    /// of low order. Takes about 100 µs. Verification alone would accept a key mixed with a point of low order. Check
    /// every key from outside, so that it has one encoding and all libraries agree on its signatures.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == publicByteCount else { return false }
        Sodium.ready()
        return crypto_core_ed25519_is_valid_point(bytes.bound) == 1 && isInMainSubgroup(bytes)
    }

    /// Whether 64 bytes are a valid key's signature of a message; about 60 µs. Strict: without the private key, one
    /// signature can't be turned into another (RFC 8032 section 5.1.7).
    package static func verify(
        _ signature: some Collection<UInt8>, of message: [UInt8], by publicKey: [UInt8]
    ) -> Bool {
        guard signature.count == signatureByteCount, publicKey.count == publicByteCount else { return false }
        Sodium.ready()
        return crypto_sign_verify_detached(Array(signature), message, UInt64(message.count), publicKey) == 0
    }

    /// Returns the public key of any 32 secret bytes; about 25 µs.
    package static func publicKey(of seed: UnsafeRawBufferPointer) -> [UInt8] {
        expanded(seed).withBytes { Array($0[secretByteCount...]) }
    }

    /// Returns the 64-byte signature of a message. It is deterministic and takes about 60 µs. Derives the public key each
    /// time, since two signatures of a message under different public keys reveal the secret.
    package static func sign(_ message: [UInt8], with seed: UnsafeRawBufferPointer) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: signatureByteCount)
        expanded(seed).withBytes { pair in
            let status = crypto_sign_detached(&signature, nil, message, UInt64(message.count), pair.bound)
            precondition(status == 0)
        }
        return signature
    }

    /// seed ‖ public key, the form that libsodium signs with.
    private static func expanded(_ seed: UnsafeRawBufferPointer) -> WipedBytes {
        precondition(seed.count == secretByteCount)
        Sodium.ready()
        return WipedBytes(count: secretByteCount + publicByteCount) { pair in
            withUnsafeTemporaryAllocation(byteCount: publicByteCount, alignment: 16) { publicKey in
                let status = crypto_sign_seed_keypair(publicKey.bound, pair.bound, seed.bound)
                precondition(status == 0)
            }
        }
    }

    /// Whether L times the point is the identity, a result that libsodium reports as a failure. An extra check: libsodium
    /// up to 1.0.20 accepts a point of order 2L as one of order L (CVE-2025-69277).
    private static func isInMainSubgroup(_ bytes: UnsafeRawBufferPointer) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: publicByteCount, alignment: 16) { product in
            crypto_scalarmult_ed25519_noclamp(product.bound, groupOrder, bytes.bound) != 0
        }
    }

    /// L = 2^252 + 27742317777372353535851937790883648493, little endian. RFC 8032 section 5.1.
    private static let groupOrder: [UInt8] =
        [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
        ] + [UInt8](repeating: 0, count: 15) + [0x10]
}
