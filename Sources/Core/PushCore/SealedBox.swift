internal import Clibsodium

/// libsodium's sealed box: anonymous sender, X25519, XSalsa20-Poly1305.
/// Source: libsodium, "Sealed boxes", `crypto_box_seal`.
package enum SealedBox {
    /// The number of bytes by which a box is longer than its plaintext: an ephemeral public key and a tag.
    package static let overheadByteCount = 48

    /// Writes the box into `output`, which is 48 bytes longer than `plaintext`; about 70 µs.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, to recipient: X25519PublicKey, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(output.count == plaintext.count + overheadByteCount)
        Sodium.ready()
        let status = recipient.withBytes {
            crypto_box_seal(output.bound, plaintext.bound, UInt64(plaintext.count), $0.bound)
        }
        precondition(status == 0, "a point of low order can't be an X25519PublicKey")
    }

    /// Writes the plaintext into `output`, which is 48 bytes shorter than `box`. Returns false if the box doesn't open.
    package static func open(
        _ box: UnsafeRawBufferPointer, with key: borrowing some X25519Secret & ~Copyable,
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard box.count >= overheadByteCount, output.count == box.count - overheadByteCount else { return false }
        let publicKey = key.publicKey
        return key.withScalar { secret in
            publicKey.withBytes { publicBytes in
                crypto_box_seal_open(output.bound, box.bound, UInt64(box.count), publicBytes.bound, secret.bound) == 0
            }
        }
    }
}
