/// The key and base nonce that one encapsulation yields. Seals and opens messages by number.
///
/// Unlike RFC 9180's context, it keeps no counter. Pushes are lost, repeated, and reordered, so each message carries its
/// number (Docs/Decisions/0002-numbers-in-the-header.md). Two plaintexts must never share a number: take it from
/// ``number(for:)``. Wiped on deallocation. Thread-safe. Source: RFC 9180 sections 5.1 to 5.3.
package struct HPKEContext: ~Copyable, Sendable {
    /// The encapsulated key, which travels with each message: with X25519, the ephemeral public key.
    package let enc: [UInt8]
    /// The ID of the pre-shared key, which also travels with each message; empty in mode_auth.
    package let pskID: [UInt8]
    /// key ‖ base_nonce, followed on the sender's side by the key from which numbers are derived
    private let keys: WipedBytes

    /// Creates the sender's side with a fresh ephemeral key; about 120 µs.
    package init(
        sendingTo recipient: X25519PublicKey, from sender: borrowing some X25519Secret & ~Copyable, info: HPKEInfo,
        psk: UnsafeRawBufferPointer? = nil
    ) {
        let ephemeral = WipedBytes(count: X25519.secretByteCount) { SecureRandom.fill($0) }
        self.init(sendingTo: recipient, from: sender, info: info, ephemeral: ephemeral, psk: psk)
    }

    /// Creates the sender's side with a given ephemeral secret, for known-answer tests.
    package init(
        sendingTo recipient: X25519PublicKey, from sender: borrowing some X25519Secret & ~Copyable, info: HPKEInfo,
        ephemeral: borrowing WipedBytes, psk: UnsafeRawBufferPointer? = nil
    ) {
        let enc = ephemeral.withBytes { X25519.publicKey(of: $0) }
        let shared = AuthenticatedKEM.encapsulate(to: recipient, from: sender, ephemeral: ephemeral, enc: enc)
        self.init(enc: enc.bytes, sharedSecret: shared, psk: psk, info: info, isSending: true)
    }

    /// Creates the recipient's side; about 100 µs.
    package init(
        receiving enc: X25519PublicKey, with recipient: borrowing some X25519Secret & ~Copyable,
        from sender: X25519PublicKey, info: HPKEInfo, psk: UnsafeRawBufferPointer? = nil
    ) {
        let shared = AuthenticatedKEM.decapsulate(enc, with: recipient, from: sender)
        self.init(enc: enc.bytes, sharedSecret: shared, psk: psk, info: info, isSending: false)
    }

    /// Creates a context from a shared secret: RFC 9180 section 5.1, `KeySchedule`. On the sender's side, also derives the
    /// key for numbers by section 5.3, `Context.Export`. `psk` is the key whose ID is in `info`; empty for mode_auth.
    package init(
        enc: [UInt8], sharedSecret: borrowing WipedBytes, psk: UnsafeRawBufferPointer? = nil, info: HPKEInfo,
        isSending: Bool
    ) {
        self.enc = enc
        pskID = info.pskID
        let secret = Self.secret(sharedSecret, psk: psk ?? .empty)
        keys = WipedBytes(count: isSending ? Self.numberKey.upperBound : Self.baseNonce.upperBound) { keys in
            func piece(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
                UnsafeMutableRawBufferPointer(rebasing: keys[range])
            }
            let keyed = secret.withBytes { HMACSHA256(key: $0) }
            info.keyScheduleContext.withUnsafeBytes { context in
                func expand(_ label: StaticString, into output: UnsafeMutableRawBufferPointer) {
                    HPKE.labeledExpand(HPKE.suiteID, keyed, label: label, context, into: output)
                }
                expand("key", into: piece(Self.key))
                expand("base_nonce", into: piece(Self.baseNonce))
                guard isSending else { return }
                let exporter = WipedBytes(count: HKDF.pseudorandomKeyByteCount) { expand("exp", into: $0) }
                exporter.withBytes {
                    HPKE.labeledExpand(
                        HPKE.suiteID, $0, label: "sec", ("sealedpush/v1 number" as StaticString).bytes,
                        into: piece(Self.numberKey))
                }
            }
        }
    }

    private static let key = 0..<ChaCha20Poly1305.keyByteCount
    private static let baseNonce = key.upperBound..<key.upperBound + ChaCha20Poly1305.nonceByteCount
    private static let numberKey = baseNonce.upperBound..<baseNonce.upperBound + HKDF.pseudorandomKeyByteCount

    /// LabeledExtract(shared_secret, "secret", psk)
    static func secret(_ sharedSecret: borrowing WipedBytes, psk: UnsafeRawBufferPointer) -> WipedBytes {
        WipedBytes(count: HKDF.pseudorandomKeyByteCount) { output in
            sharedSecret.withBytes {
                HPKE.labeledExtract(HPKE.suiteID, salt: $0, label: "secret", psk, into: output)
            }
        }
    }

    /// Returns a new number for a plaintext; on the sender's side only. Takes less than 1 µs for a short plaintext. A
    /// number repeats only if the random bytes and the plaintext both do, so even a copy of the process or the machine
    /// can't reuse a number for another plaintext. `random` must be fresh and used only here. Source: Specification 3.5.
    package func number(
        for plaintext: UnsafeRawBufferPointer, random: Bytes16 = SecureRandom.pair().0
    ) -> HPKENumber {
        precondition(keys.count == Self.numberKey.upperBound, "only the sender's side can create numbers")
        let randomEnd = Bytes16.byteCount
        return withUnsafeTemporaryAllocation(byteCount: randomEnd + plaintext.count, alignment: 16) { message in
            defer { wipe(message) }
            random.withBytes { message.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: message[randomEnd...]).copyMemory(from: plaintext)
            // libsodium's shortest hash is 16 bytes long; the number is the first 12.
            return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { hash in
                keys.withBytes { keys in
                    BLAKE2b.hash(
                        UnsafeRawBufferPointer(message), key: UnsafeRawBufferPointer(rebasing: keys[Self.numberKey]),
                        into: hash)
                }
                return HPKENumber(UnsafeRawBufferPointer(rebasing: hash[..<HPKENumber.byteCount]))
            }
        }
    }

    /// Writes the ciphertext and tag into `output`, which is 16 bytes longer than `plaintext`.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer, number: HPKENumber,
        into output: UnsafeMutableRawBufferPointer
    ) {
        withKeyAndNonce(number) { key, nonce in
            ChaCha20Poly1305.seal(plaintext, additionalData: additionalData, key: key, nonce: nonce, into: output)
        }
    }

    /// Writes the plaintext into `output`, which is 16 bytes shorter than `ciphertext`. Returns false if the tag is wrong.
    package func open(
        _ ciphertext: UnsafeRawBufferPointer, additionalData: UnsafeRawBufferPointer, number: HPKENumber,
        into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        withKeyAndNonce(number) { key, nonce in
            ChaCha20Poly1305.open(ciphertext, additionalData: additionalData, key: key, nonce: nonce, into: output)
        }
    }

    /// Lends the key and the nonce, which is the base nonce XOR the number. RFC 9180 section 5.2, `ComputeNonce`.
    package func withKeyAndNonce<Result>(
        _ number: HPKENumber, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
    ) -> Result {
        keys.withBytes { keys in
            withUnsafeTemporaryAllocation(byteCount: ChaCha20Poly1305.nonceByteCount, alignment: 16) { nonce in
                defer { wipe(nonce) }
                (HPKENumber(UnsafeRawBufferPointer(rebasing: keys[Self.baseNonce])) ^ number).write(into: nonce)
                return body(UnsafeRawBufferPointer(rebasing: keys[Self.key]), UnsafeRawBufferPointer(nonce))
            }
        }
    }
}
