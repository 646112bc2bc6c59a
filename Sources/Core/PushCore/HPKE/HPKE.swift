/// HPKE, RFC 9180: mode_auth with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305.
///
/// Only what the envelope needs: no base or PSK mode, no exporter. See ``HPKEContext``.
package enum HPKE {
    /// RFC 9180 section 5, table 1.
    static let modeAuth: UInt8 = 0x02
    /// RFC 9180 section 4.1: "KEM" ‖ I2OSP(kem_id, 2).
    static let kemSuiteID = Array("KEM".utf8) + [0x00, 0x20]
    /// RFC 9180 section 5.1: "HPKE" ‖ kem_id ‖ kdf_id ‖ aead_id, two bytes each.
    static let suiteID = Array("HPKE".utf8) + [0x00, 0x20, 0x00, 0x01, 0x00, 0x03]

    /// RFC 9180 section 4, `LabeledExtract`; writes 32 bytes.
    static func labeledExtract(
        _ suiteID: [UInt8], salt: UnsafeRawBufferPointer, label: StaticString,
        _ inputKeyMaterial: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        suiteID.withUnsafeBytes { suiteID in
            HKDF.extract(
                salt: salt, inputKeyMaterial: version.bytes, suiteID, label.bytes, inputKeyMaterial, into: output)
        }
    }

    /// RFC 9180 section 4, `LabeledExpand`; fills `output`.
    static func labeledExpand(
        _ suiteID: [UInt8], _ pseudorandomKey: UnsafeRawBufferPointer, label: StaticString,
        _ info: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        let length = UInt16(output.count).bigEndian
        withUnsafeBytes(of: length) { length in
            suiteID.withUnsafeBytes { suiteID in
                HKDF.expand(pseudorandomKey, info: length, version.bytes, suiteID, label.bytes, info, into: output)
            }
        }
    }

    private static let version: StaticString = "HPKE-v1"
}

/// An application's `info`, already hashed into the key schedule context of mode_auth: 65 bytes that are the same for
/// every message of one app, so they are worked out once.
///
/// Source: RFC 9180 section 5.1, `KeySchedule`.
package struct HPKEInfo: Sendable {
    /// mode ‖ psk_id_hash ‖ info_hash
    package let keyScheduleContext: [UInt8]

    package init(_ info: [UInt8]) {
        let hashByteCount = HKDF.pseudorandomKeyByteCount
        var context = [UInt8](repeating: 0, count: 1 + 2 * hashByteCount)
        context[0] = HPKE.modeAuth
        context.withUnsafeMutableBytes { context in
            // mode_auth has the default psk_id: empty.
            HPKE.labeledExtract(
                HPKE.suiteID, salt: .empty, label: "psk_id_hash", .empty,
                into: UnsafeMutableRawBufferPointer(rebasing: context[1...hashByteCount]))
            info.withUnsafeBytes { info in
                HPKE.labeledExtract(
                    HPKE.suiteID, salt: .empty, label: "info_hash", info,
                    into: UnsafeMutableRawBufferPointer(rebasing: context[(1 + hashByteCount)...]))
            }
        }
        keyScheduleContext = context
    }
}

/// `AuthEncap` and `AuthDecap` of DHKEM(X25519, HKDF-SHA256).
///
/// Source: RFC 9180 section 4.1.
package enum AuthenticatedKEM {
    package static let sharedSecretByteCount = 32

    /// What the sender computes: two scalar multiplications, about 100 µs. The ephemeral secret is 32 random bytes,
    /// used for this call only; `enc` is its public key.
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

    /// What the recipient computes: two scalar multiplications, about 90 µs.
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
        // The agreement (64 bytes), the pseudorandom key (32) and kem_context (96) in one wiped piece.
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
