internal import Clibsodium

/// Scalar multiplication on Curve25519. Source: RFC 7748 section 5; libsodium, "Point*scalar multiplication".
package enum X25519 {
    package static let secretByteCount = 32

    /// Returns the public key of any 32 secret bytes; about 20 µs.
    package static func publicKey(of scalar: UnsafeRawBufferPointer) -> X25519PublicKey {
        precondition(scalar.count == secretByteCount)
        Sodium.ready()
        return withUnsafeTemporaryAllocation(byteCount: X25519PublicKey.byteCount, alignment: 16) { point in
            crypto_scalarmult_base(point.bound, scalar.bound)
            guard let key = try? X25519PublicKey(UnsafeRawBufferPointer(point)) else {
                preconditionFailure("a clamped scalar times the base point is never of low order")
            }
            return key
        }
    }

    /// Writes the product of scalar and point into `output` (32 bytes); about 45 µs.
    static func agree(
        _ scalar: UnsafeRawBufferPointer, _ point: X25519PublicKey, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(scalar.count == secretByteCount && output.count == X25519PublicKey.byteCount)
        let status = point.withBytes { crypto_scalarmult(output.bound, scalar.bound, $0.bound) }
        precondition(status == 0, "a point of low order can't be an X25519PublicKey")
    }
}
