/// The key and base nonce that one encapsulation yields: seals and opens messages by sequence number.
///
/// Unlike RFC 9180's context it keeps no counter: pushes are lost, repeated and reordered, so the number travels with
/// each message (Docs/Decisions/0002-sequence-numbers-in-the-header.md). **Whoever seals must never use a number twice.**
/// Wiped when it goes. Opening and sealing may be called from many threads at once.
///
/// Source: RFC 9180 sections 5.1 and 5.2.
package struct HPKEContext: ~Copyable, Sendable {
    /// The encapsulated key, which travels with each message: with X25519 the ephemeral public key.
    package let enc: [UInt8]
    /// key ‖ base_nonce
    private let keys: WipedBytes

    /// The sender's side: a fresh ephemeral key; about 120 µs.
    package init(
        sendingTo recipient: X25519PublicKey, from sender: borrowing some X25519Secret & ~Copyable, info: HPKEInfo
    ) {
        let ephemeral = WipedBytes(count: X25519.secretByteCount) { SecureRandom.fill($0) }
        self.init(sendingTo: recipient, from: sender, info: info, ephemeral: ephemeral)
    }

    /// The same with a given ephemeral secret, for known answers. Using one twice repeats every nonce.
    package init(
        sendingTo recipient: X25519PublicKey, from sender: borrowing some X25519Secret & ~Copyable, info: HPKEInfo,
        ephemeral: borrowing WipedBytes
    ) {
        let enc = ephemeral.withBytes { X25519.publicKey(of: $0) }
        let shared = AuthenticatedKEM.encapsulate(to: recipient, from: sender, ephemeral: ephemeral, enc: enc)
        self.init(enc: enc.bytes, sharedSecret: shared, info: info)
    }

    /// The recipient's side; about 100 µs.
    package init(
        receiving enc: X25519PublicKey, with recipient: borrowing some X25519Secret & ~Copyable,
        from sender: X25519PublicKey, info: HPKEInfo
    ) {
        let shared = AuthenticatedKEM.decapsulate(enc, with: recipient, from: sender)
        self.init(enc: enc.bytes, sharedSecret: shared, info: info)
    }

    /// RFC 9180 section 5.1, `KeySchedule`, without the exporter secret: for whatever has agreed on the shared secret.
    package init(enc: [UInt8], sharedSecret: borrowing WipedBytes, info: HPKEInfo) {
        self.enc = enc
        let secret = Self.secret(sharedSecret)
        keys = WipedBytes(count: ChaCha20Poly1305.keyByteCount + ChaCha20Poly1305.nonceByteCount) { keys in
            let split = ChaCha20Poly1305.keyByteCount
            secret.withBytes { secret in
                info.keyScheduleContext.withUnsafeBytes { context in
                    HPKE.labeledExpand(
                        HPKE.suiteID, secret, label: "key", context,
                        into: UnsafeMutableRawBufferPointer(rebasing: keys[..<split]))
                    HPKE.labeledExpand(
                        HPKE.suiteID, secret, label: "base_nonce", context,
                        into: UnsafeMutableRawBufferPointer(rebasing: keys[split...]))
                }
            }
        }
    }

    /// LabeledExtract(shared_secret, "secret", psk) with the default psk of mode_auth: empty.
    static func secret(_ sharedSecret: borrowing WipedBytes) -> WipedBytes {
        WipedBytes(count: HKDF.pseudorandomKeyByteCount) { output in
            sharedSecret.withBytes {
                HPKE.labeledExtract(HPKE.suiteID, salt: $0, label: "secret", .empty, into: output)
            }
        }
    }

    /// Writes ciphertext and tag into `output`, which has 16 bytes more than `plaintext`.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer, sequenceNumber: UInt32,
        into output: UnsafeMutableRawBufferPointer
    ) {
        withKeyAndNonce(sequenceNumber) { key, nonce in
            ChaCha20Poly1305.seal(plaintext, additionalData: additionalData, key: key, nonce: nonce, into: output)
        }
    }

    /// Writes the plaintext into `output`, which has 16 bytes less than `ciphertext`; false when the tag is wrong.
    package func open(
        _ ciphertext: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer, sequenceNumber: UInt32,
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        withKeyAndNonce(sequenceNumber) { key, nonce in
            ChaCha20Poly1305.open(ciphertext, additionalData: additionalData, key: key, nonce: nonce, into: output)
        }
    }

    /// RFC 9180 section 5.2, `ComputeNonce`: the base nonce with the number, big endian, XORed into its end.
    package func withKeyAndNonce<Result>(
        _ sequenceNumber: UInt32, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
    ) -> Result {
        keys.withBytes { keys in
            let key = UnsafeRawBufferPointer(rebasing: keys[..<ChaCha20Poly1305.keyByteCount])
            let baseNonce = keys[ChaCha20Poly1305.keyByteCount...]
            return withUnsafeTemporaryAllocation(byteCount: baseNonce.count, alignment: 16) { nonce in
                defer { wipe(nonce) }
                nonce.copyBytes(from: baseNonce)
                for byte in 0..<4 {
                    nonce[nonce.count - 1 - byte] ^= UInt8(truncatingIfNeeded: sequenceNumber >> (8 * UInt32(byte)))
                }
                return body(key, UnsafeRawBufferPointer(nonce))
            }
        }
    }
}
