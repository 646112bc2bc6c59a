internal import Clibsodium

/// Signing. The 32 secret bytes are RFC 8032's private key, which libsodium calls the seed.
///
/// Source: RFC 8032 section 5.1; libsodium, "Public-key signatures", "Point*scalar multiplication".
package enum Ed25519 {
    package static let publicByteCount = 32
    package static let secretByteCount = 32
    package static let signatureByteCount = 64

    /// Whether 32 bytes are a public key that is safe to use: canonical, on the curve, in the main subgroup and so not of low
    /// order; about 100 µs.
    ///
    /// Verifying alone would take a key that is mixed with a point of low order. Asked of every key that comes from
    /// elsewhere, so that each has one spelling, and its signatures mean the same to every library.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == publicByteCount else { return false }
        Sodium.ready()
        return crypto_core_ed25519_is_valid_point(bytes.bound) == 1 && isInMainSubgroup(bytes)
    }

    /// Whether 64 bytes are the signature of a message by a key that is valid; about 60 µs.
    ///
    /// Strict: there is no second signature that can be made from a first without the key (RFC 8032 section 5.1.7).
    package static func verify(
        _ signature: some Collection<UInt8>, of message: [UInt8], by publicKey: [UInt8]
    ) -> Bool {
        guard signature.count == signatureByteCount, publicKey.count == publicByteCount else { return false }
        Sodium.ready()
        return crypto_sign_verify_detached(Array(signature), message, UInt64(message.count), publicKey) == 0
    }

    /// The public key of 32 secret bytes, whatever they are; about 25 µs.
    package static func publicKey(of seed: UnsafeRawBufferPointer) -> [UInt8] {
        expanded(seed).withBytes { Array($0[secretByteCount...]) }
    }

    /// The 64-byte signature of a message: the same each time; about 60 µs.
    ///
    /// Works out the public key anew: two signatures of one message under two public keys would tell the secret.
    package static func sign(_ message: [UInt8], with seed: UnsafeRawBufferPointer) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: signatureByteCount)
        expanded(seed).withBytes { pair in
            let status = crypto_sign_detached(&signature, nil, message, UInt64(message.count), pair.bound)
            precondition(status == 0)
        }
        return signature
    }

    /// seed ‖ public key: the form in which libsodium signs.
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

    /// Whether L times the point is the identity, which libsodium refuses to give as a result.
    ///
    /// Asked once more since libsodium up to 1.0.20 takes a point of order 2L for one of order L (CVE-2025-69277).
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
