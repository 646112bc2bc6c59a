internal import Clibsodium

/// A key that seals and authenticates what is kept in files: 32 bytes in guarded memory.
///
/// Each sealing draws 32 random bytes as the salt of HKDF (RFC 5869), takes a key of its own from it, and encrypts with
/// ChaCha20-Poly1305 (RFC 8439) under nonce 0: as no key is used twice, no nonce is. Safe to share between threads.
package struct StorageKey: ~Copyable, Sendable {
    private let secret: GuardedSecret
    private let macKey: GuardedSecret

    package static let byteCount = 32
    /// Salt and tag: how much longer sealed bytes are.
    package static let overheadByteCount = saltByteCount + ChaCha20Poly1305.tagByteCount
    private static let saltByteCount = 32

    /// Lets `fill` write the 32 bytes.
    package init<Failure: Error>(fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        let secret = try GuardedSecret(count: Self.byteCount, fill: fill)
        macKey = secret.withBytes { secret in
            GuardedSecret(count: Self.byteCount) {
                Self.derive(from: secret, salt: [], label: "sealedpush/v1 storage mac", into: $0)
            }
        }
        self.secret = secret
    }

    /// HKDF-SHA256 over 32 secret bytes of another origin, such as a key file.
    package init(derivedFrom bytes: UnsafeRawBufferPointer, salt: [UInt8]) {
        self.init { Self.derive(from: bytes, salt: salt, label: "sealedpush/v1 storage key", into: $0) }
    }

    /// salt ‖ ciphertext ‖ tag.
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

    /// What was sealed; nil for anything that was not sealed under this key with this additional data.
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

    /// BLAKE2b-256 under a key derived from this one.
    package func mac(_ bytes: [UInt8]) -> [UInt8] {
        macKey.withBytes { BLAKE2b.hash(bytes, key: $0, byteCount: Self.byteCount) }
    }

    /// In constant time.
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

/// Argon2id 1.3 (RFC 9106) with one lane, as libsodium has it: a key from a passphrase, slowly on purpose.
package enum Argon2id {
    package static let saltByteCount = 16

    /// How much work a guess costs.
    package struct Cost: Hashable, Sendable {
        /// Passes over the memory.
        package let operations: UInt64
        /// In bytes.
        package let memoryByteCount: Int

        /// Three passes over 64 MiB, about 0.2 s: RFC 9106, section 4, the second recommended option.
        package static let standard = Cost(unchecked: 3, 64 << 20)

        /// Nil below libsodium's interactive limits (2 passes over 64 MiB), where guessing would be cheap, and above 16
        /// passes or 1 GiB, where a damaged file would keep the program busy.
        package init?(operations: UInt64, memoryByteCount: Int) {
            guard (2...16).contains(operations), (64 << 20...1 << 30).contains(memoryByteCount) else { return nil }
            self.init(unchecked: operations, memoryByteCount)
        }

        private init(unchecked operations: UInt64, _ memoryByteCount: Int) {
            self.operations = operations
            self.memoryByteCount = memoryByteCount
        }
    }

    /// Writes a key of 16 bytes at least into `key`; false where the system has not enough memory.
    package static func derive(
        from passphrase: UnsafeRawBufferPointer, salt: [UInt8], cost: Cost, into key: UnsafeMutableRawBufferPointer
    ) -> Bool {
        precondition(salt.count == saltByteCount && key.count >= 16)
        Sodium.ready()
        let passphraseStart = UnsafeRawPointer(passphrase.bound).assumingMemoryBound(to: CChar.self)
        return crypto_pwhash(
            key.bound, UInt64(key.count), passphraseStart, UInt64(passphrase.count), salt, cost.operations,
            cost.memoryByteCount, crypto_pwhash_ALG_ARGON2ID13) == 0
    }
}
