/// A key that encrypts and authenticates stored files: 32 bytes in guarded memory. Each call to `seal` draws 32 random
/// bytes as HKDF's salt (RFC 5869), derives a one-time key, and encrypts with ChaCha20-Poly1305 (RFC 8439) under nonce 0.
/// No key is used twice, so no nonce repeats under a key. Thread-safe.
package struct StorageKey: ~Copyable, Sendable {
    private let secret: GuardedSecret
    private let macKey: GuardedSecret

    package static let byteCount = 32
    /// The number of bytes that sealing adds: salt and tag.
    package static let overheadByteCount = saltByteCount + ChaCha20Poly1305.tagByteCount
    private static let saltByteCount = 32

    /// Creates a key whose 32 bytes `fill` writes.
    package init<Failure: Error>(fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        let secret = try GuardedSecret(count: Self.byteCount, fill: fill)
        macKey = secret.withBytes { secret in
            GuardedSecret(count: Self.byteCount) {
                Self.derive(from: secret, salt: [], label: "sealedpush/v1 storage mac", into: $0)
            }
        }
        self.secret = secret
    }

    /// Derives a key by HKDF-SHA256 from 32 secret bytes from another source, such as a key file.
    package init(derivedFrom bytes: UnsafeRawBufferPointer, salt: [UInt8]) {
        self.init { Self.derive(from: bytes, salt: salt, label: "sealedpush/v1 storage key", into: $0) }
    }

    /// Returns salt ‖ ciphertext ‖ tag.
    package func seal(_ plaintext: UnsafeRawBufferPointer, additionalData: [UInt8]) -> [UInt8] {
        let salt = SecureRandom.bytes(count: Self.saltByteCount)
        var sealed = [UInt8](repeating: 0, count: plaintext.count + ChaCha20Poly1305.tagByteCount)
        withKeyAndNonce(salt: salt) { key, nonce in
            sealed.withUnsafeMutableBytes { output in
                additionalData.withUnsafeBytes { data in
                    ChaCha20Poly1305.seal(plaintext, additionalData: data, key: key, nonce: nonce, into: output)
                }
            }
        }
        return salt + sealed
    }

    /// Returns the plaintext, or nil if the bytes weren't sealed under this key with this additional data.
    package func open(_ sealed: [UInt8], additionalData: [UInt8]) -> WipedBytes? {
        guard sealed.count > Self.overheadByteCount else { return nil }
        let salt = Array(sealed.prefix(Self.saltByteCount))
        var plaintext = WipedBytes(count: sealed.count - Self.overheadByteCount)
        let isOpen = withKeyAndNonce(salt: salt) { key, nonce in
            plaintext.withMutableBytes { output in
                sealed.withUnsafeBytes { sealed in
                    additionalData.withUnsafeBytes { data in
                        ChaCha20Poly1305.open(
                            UnsafeRawBufferPointer(rebasing: sealed[Self.saltByteCount...]), additionalData: data,
                            key: key, nonce: nonce, into: output)
                    }
                }
            }
        }
        guard isOpen else { return nil }
        return plaintext
    }

    /// Returns the BLAKE2b-256 of bytes under a key derived from this one.
    package func mac(_ bytes: [UInt8]) -> [UInt8] {
        macKey.withBytes { BLAKE2b.hash(bytes, key: $0, byteCount: Self.byteCount) }
    }

    /// Whether a MAC is valid; compares in constant time.
    package func isValid(_ mac: [UInt8], of bytes: [UInt8]) -> Bool { ConstantTime.areEqual(mac, self.mac(bytes)) }

    private func withKeyAndNonce<Answer>(
        salt: [UInt8], _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Answer
    ) -> Answer {
        let key = secret.withBytes { secret in
            WipedBytes(count: ChaCha20Poly1305.keyByteCount) { output in
                Self.derive(from: secret, salt: salt, label: "sealedpush/v1 storage seal", into: output)
            }
        }
        return key.withBytes { key in Self.nonce.withUnsafeBytes { body(key, $0) } }
    }

    private static func derive(
        from secret: UnsafeRawBufferPointer, salt: [UInt8], label: StaticString,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let extracted = WipedBytes(count: HKDF.pseudorandomKeyByteCount) { output in
            salt.withUnsafeBytes { HKDF.extract(salt: $0, inputKeyMaterial: secret, into: output) }
        }
        extracted.withBytes { HKDF.expand($0, info: label.bytes, into: output) }
    }

    private static let nonce = [UInt8](repeating: 0, count: ChaCha20Poly1305.nonceByteCount)
}
