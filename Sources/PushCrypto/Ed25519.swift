internal import Clibsodium

/// An Ed25519 public key that is safe to use: canonical, on the curve, in the main subgroup and so not of low order.
///
/// Verifying alone would take a key that is mixed with a point of low order; each key has one spelling here, and its
/// signatures mean the same to every library. Checked once, for every place where a key enters; about 100 µs.
///
/// Source: RFC 8032 section 5.1; libsodium, "Point*scalar multiplication", `crypto_core_ed25519_is_valid_point`.
package struct Ed25519PublicKey: Hashable, Sendable {
    package static let byteCount = 32
    private let words: SIMD4<UInt64>

    /// Takes exactly 32 bytes.
    package init(_ bytes: UnsafeRawBufferPointer) throws(Ed25519Error) {
        guard bytes.count == Self.byteCount, Self.isValid(bytes) else { throw .invalidPublicKey }
        words = bytes.loadUnaligned(as: SIMD4<UInt64>.self)
    }

    /// Takes exactly 32 bytes.
    package init(_ bytes: some Sequence<UInt8>) throws(Ed25519Error) {
        let key = Array(bytes).withUnsafeBytes { try? Ed25519PublicKey($0) }
        guard let key else { throw .invalidPublicKey }
        self = key
    }

    /// Takes 32 bytes that have been checked before.
    package init(checked bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.byteCount)
        words = bytes.loadUnaligned(as: SIMD4<UInt64>.self)
    }

    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Lends the 32 bytes.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try withUnsafeBytes(of: words) { (bytes) throws(Failure) in try body(bytes) }
    }

    /// Whether 64 bytes are this key's signature of a message; about 60 µs.
    ///
    /// Strict: there is no second signature that can be made from a first without the key (RFC 8032 section 5.1.7).
    package func verify(_ signature: some Collection<UInt8>, of message: [UInt8]) -> Bool {
        guard signature.count == Ed25519.signatureByteCount else { return false }
        Sodium.ready()
        return withBytes {
            crypto_sign_verify_detached(Array(signature), message, UInt64(message.count), $0.bound) == 0
        }
    }

    private static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        Sodium.ready()
        return crypto_core_ed25519_is_valid_point(bytes.bound) == 1 && isInMainSubgroup(bytes)
    }

    /// Whether L times the point is the identity, which libsodium refuses to give as a result.
    ///
    /// Asked once more since libsodium up to 1.0.20 takes a point of order 2L for one of order L (CVE-2025-69277).
    private static func isInMainSubgroup(_ bytes: UnsafeRawBufferPointer) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { product in
            crypto_scalarmult_ed25519_noclamp(product.bound, Ed25519.groupOrder, bytes.bound) != 0
        }
    }
}

/// Not 32 bytes, not canonical, not on the curve, or not in the main subgroup; says nothing about the bytes.
package enum Ed25519Error: Error, Equatable { case invalidPublicKey }

/// Signing. The 32 secret bytes are RFC 8032's private key, which libsodium calls the seed.
///
/// Source: RFC 8032 section 5.1; libsodium, "Public-key signatures".
package enum Ed25519 {
    package static let signatureByteCount = 64
    package static let secretByteCount = 32

    /// The public key of 32 secret bytes, whatever they are; about 150 µs.
    package static func publicKey(of seed: UnsafeRawBufferPointer) -> Ed25519PublicKey {
        expanded(seed).withBytes { pair in
            guard let key = try? Ed25519PublicKey(UnsafeRawBufferPointer(rebasing: pair[secretByteCount...])) else {
                preconditionFailure("a clamped scalar times the base point is always in the main subgroup")
            }
            return key
        }
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
        return WipedBytes(count: secretByteCount + Ed25519PublicKey.byteCount) { pair in
            withUnsafeTemporaryAllocation(byteCount: Ed25519PublicKey.byteCount, alignment: 16) { publicKey in
                let status = crypto_sign_seed_keypair(publicKey.bound, pair.bound, seed.bound)
                precondition(status == 0)
            }
        }
    }

    /// L = 2^252 + 27742317777372353535851937790883648493, little endian. RFC 8032 section 5.1.
    fileprivate static let groupOrder: [UInt8] =
        [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
        ] + [UInt8](repeating: 0, count: 15) + [0x10]
}
