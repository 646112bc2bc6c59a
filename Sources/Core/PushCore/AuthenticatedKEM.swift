/// `AuthEncap` and `AuthDecap` of DHKEM(X25519, HKDF-SHA256). Source: RFC 9180 section 4.1.
package enum AuthenticatedKEM {
    package static let sharedSecretByteCount = 32

    /// Computes the sender's shared secret with two scalar multiplications; about 100 µs. The ephemeral secret is 32 random
    /// bytes, used for this call only; `enc` is its public key.
    package static func encapsulate(
        to recipient: X25519PublicKey, from sender: borrowing some X25519Secret & ~Copyable,
        ephemeral: borrowing WipedBytes, enc: X25519PublicKey
    ) -> WipedBytes {
        let senderPublicKey = sender.publicKey
        return ephemeral.withBytes { ephemeral in
            sender.withScalar { senderSecret in
                sharedSecret(
                    (ephemeral, recipient), (senderSecret, recipient), context: (enc, recipient, senderPublicKey))
            }
        }
    }

    /// Computes the recipient's shared secret with two scalar multiplications; about 90 µs.
    package static func decapsulate(
        _ enc: X25519PublicKey, with recipient: borrowing some X25519Secret & ~Copyable, from sender: X25519PublicKey
    ) -> WipedBytes {
        let recipientPublicKey = recipient.publicKey
        return recipient.withScalar { secret in
            sharedSecret((secret, enc), (secret, sender), context: (enc, recipientPublicKey, sender))
        }
    }

    /// `ExtractAndExpand` over the two agreements.
    private static func sharedSecret(
        _ first: (UnsafeRawBufferPointer, X25519PublicKey), _ second: (UnsafeRawBufferPointer, X25519PublicKey),
        context: (enc: X25519PublicKey, recipient: X25519PublicKey, sender: X25519PublicKey)
    ) -> WipedBytes {
        let keyByteCount = X25519PublicKey.byteCount
        // The agreement (64 bytes), the pseudorandom key (32), and kem_context (96) in one wiped buffer.
        let scratch = WipedBytes(count: 6 * keyByteCount) { scratch in
            func piece(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
                UnsafeMutableRawBufferPointer(
                    rebasing: scratch[range.lowerBound * keyByteCount..<range.upperBound * keyByteCount])
            }
            X25519.agree(first.0, first.1, into: piece(0..<1))
            X25519.agree(second.0, second.1, into: piece(1..<2))
            HPKE.labeledExtract(
                HPKE.kemSuiteID, salt: .empty, label: "eae_prk", UnsafeRawBufferPointer(piece(0..<2)),
                into: piece(2..<3))
            context.enc.withBytes { piece(3..<4).copyMemory(from: $0) }
            context.recipient.withBytes { piece(4..<5).copyMemory(from: $0) }
            context.sender.withBytes { piece(5..<6).copyMemory(from: $0) }
        }
        return WipedBytes(count: sharedSecretByteCount) { output in
            scratch.withBytes { scratch in
                HPKE.labeledExpand(
                    HPKE.kemSuiteID, UnsafeRawBufferPointer(rebasing: scratch[2 * keyByteCount..<3 * keyByteCount]),
                    label: "shared_secret", UnsafeRawBufferPointer(rebasing: scratch[(3 * keyByteCount)...]),
                    into: output)
            }
        }
    }
}
