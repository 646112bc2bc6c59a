/// HPKE, RFC 9180: mode_auth and mode_auth_psk with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, and ChaCha20-Poly1305. Only
/// the modes that the envelope needs, which all authenticate the sender. See ``HPKEContext``.
package enum HPKE {
    /// RFC 9180 section 5, table 1.
    static let modeAuth: UInt8 = 0x02
    static let modeAuthPSK: UInt8 = 0x03
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

/// An application's `info`, already hashed into the 65-byte key schedule context. In mode_auth it is the same for every
/// message of an app, so it is computed once. Source: RFC 9180 section 5.1, `KeySchedule`.
package struct HPKEInfo: Sendable {
    /// mode ‖ psk_id_hash ‖ info_hash
    package let keyScheduleContext: [UInt8]
    let pskID: [UInt8]

    /// - Parameter pskID: the pre-shared key's ID for mode_auth_psk; empty for mode_auth.
    package init(_ info: [UInt8], pskID: [UInt8] = []) {
        let hashByteCount = HKDF.pseudorandomKeyByteCount
        var context = [UInt8](repeating: 0, count: 1 + 2 * hashByteCount)
        context[0] = pskID.isEmpty ? HPKE.modeAuth : HPKE.modeAuthPSK
        context.withUnsafeMutableBytes { context in
            pskID.withUnsafeBytes { pskID in
                HPKE.labeledExtract(
                    HPKE.suiteID, salt: .empty, label: "psk_id_hash", pskID,
                    into: UnsafeMutableRawBufferPointer(rebasing: context[1...hashByteCount]))
            }
            info.withUnsafeBytes { info in
                HPKE.labeledExtract(
                    HPKE.suiteID, salt: .empty, label: "info_hash", info,
                    into: UnsafeMutableRawBufferPointer(rebasing: context[(1 + hashByteCount)...]))
            }
        }
        keyScheduleContext = context
        self.pskID = pskID
    }
}

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

/// A message's number in its context: 96 bits, big endian. Source: RFC 9180 section 5.2, `ComputeNonce`.
package struct HPKENumber: Hashable, Sendable {
    package static let byteCount = 12
    private let high: UInt32
    private let low: UInt64

    package init(_ value: UInt64) { (high, low) = (0, value) }

    /// Creates a number from exactly 12 bytes.
    package init(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == Self.byteCount)
        high = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
    }

    package func write(into bytes: UnsafeMutableRawBufferPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt32.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 4, as: UInt64.self)
    }

    package static func ^ (one: HPKENumber, other: HPKENumber) -> HPKENumber {
        HPKENumber(high: one.high ^ other.high, low: one.low ^ other.low)
    }

    private init(high: UInt32, low: UInt64) { (self.high, self.low) = (high, low) }
}

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
            secret.withBytes { secret in
                info.keyScheduleContext.withUnsafeBytes { context in
                    func expand(_ label: StaticString, into output: UnsafeMutableRawBufferPointer) {
                        HPKE.labeledExpand(HPKE.suiteID, secret, label: label, context, into: output)
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
