internal import Clibsodium

/// An X25519 secret key in guarded memory, with its public key.
///
/// Source: RFC 7748 section 5; libsodium, "Point*scalar multiplication".
package struct X25519SecretKey: ~Copyable, Sendable {
    package let publicKey: X25519PublicKey
    private let secret: GuardedSecret

    /// A new random key.
    package static func random() -> X25519SecretKey {
        let secret = GuardedSecret(count: X25519PublicKey.byteCount) { SecureRandom.fill($0) }
        return X25519SecretKey(secret: secret)
    }

    /// Copies 32 secret bytes; the caller wipes its own.
    package init(copying bytes: UnsafeRawBufferPointer) throws(X25519Error) {
        guard bytes.count == X25519PublicKey.byteCount else { throw .invalidSecretKey }
        self.init(secret: GuardedSecret(count: bytes.count) { $0.copyMemory(from: bytes) })
    }

    private init(secret: consuming GuardedSecret) {
        publicKey = secret.withBytes { X25519.publicKey(of: $0) }
        self.secret = secret
    }

    /// Lends the 32 secret bytes.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withBytes(body)
    }
}

/// Scalar multiplication on Curve25519.
enum X25519 {
    /// The public key of 32 secret bytes; about 20 µs.
    static func publicKey(of scalar: UnsafeRawBufferPointer) -> X25519PublicKey {
        precondition(scalar.count == X25519PublicKey.byteCount)
        Sodium.ready()
        return withUnsafeTemporaryAllocation(byteCount: X25519PublicKey.byteCount, alignment: 16) { point in
            crypto_scalarmult_base(point.bound, scalar.bound)
            guard let key = try? X25519PublicKey(UnsafeRawBufferPointer(point)) else {
                preconditionFailure("a clamped scalar times the base point is never of low order")
            }
            return key
        }
    }

    /// Writes scalar times point into `output` (32 bytes); about 45 µs.
    static func agree(
        _ scalar: UnsafeRawBufferPointer, _ point: X25519PublicKey, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(scalar.count == X25519PublicKey.byteCount && output.count == X25519PublicKey.byteCount)
        let status = point.withBytes { crypto_scalarmult(output.bound, scalar.bound, $0.bound) }
        precondition(status == 0, "a point of low order can't be an X25519PublicKey")
    }
}
