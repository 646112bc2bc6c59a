internal import Clibsodium

/// An Ed25519 secret key in guarded memory, with its public key.
///
/// The 32 bytes are RFC 8032's private key, which libsodium calls the seed. Source: RFC 8032 section 5.1; libsodium,
/// "Public-key signatures".
package struct Ed25519SecretKey: ~Copyable, Sendable {
    package let publicKey: Ed25519PublicKey
    /// seed ‖ public key: the form in which libsodium signs.
    private let secret: GuardedSecret

    /// A new random key.
    package static func random() -> Ed25519SecretKey {
        Ed25519SecretKey(seed: WipedBytes(count: seedByteCount) { SecureRandom.fill($0) })
    }

    /// Copies 32 secret bytes; the caller wipes its own.
    package init(copying bytes: UnsafeRawBufferPointer) throws(Ed25519Error) {
        guard bytes.count == Self.seedByteCount else { throw .invalidSecretKey }
        self.init(seed: WipedBytes(count: bytes.count) { $0.copyMemory(from: bytes) })
    }

    private init(seed: consuming WipedBytes) {
        Sodium.ready()
        let seed = seed
        let halves = Self.seedByteCount + Ed25519PublicKey.byteCount
        secret = GuardedSecret(count: halves) { secret in
            seed.withBytes { seed in
                withUnsafeTemporaryAllocation(byteCount: Ed25519PublicKey.byteCount, alignment: 16) { publicKey in
                    let status = crypto_sign_seed_keypair(publicKey.bound, secret.bound, seed.bound)
                    precondition(status == 0)
                }
            }
        }
        publicKey = secret.withBytes { secret in
            guard let key = try? Ed25519PublicKey(UnsafeRawBufferPointer(rebasing: secret[Self.seedByteCount...]))
            else {
                preconditionFailure("a clamped scalar times the base point is always in the main subgroup")
            }
            return key
        }
    }

    /// Lends the 32 secret bytes.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withBytes { (secret) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: secret[..<Self.seedByteCount]))
        }
    }

    /// The 64-byte signature of a message: the same each time; about 30 µs.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Ed25519.signatureByteCount)
        secret.withBytes { secret in
            let status = crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret.bound)
            precondition(status == 0)
        }
        return signature
    }

    private static let seedByteCount = 32
}
