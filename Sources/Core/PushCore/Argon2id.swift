internal import Clibsodium

/// Argon2id 1.3 (RFC 9106) with one lane, as in libsodium: derives a key from a passphrase, deliberately slowly.
package enum Argon2id {
    package static let saltByteCount = 16

    /// The cost of one guess.
    package struct Cost: Hashable, Sendable {
        /// The number of passes over the memory.
        package let operations: UInt64
        package let memoryByteCount: Int

        /// Three passes over 64 MiB, about 0.2 s: RFC 9106, section 4, the second recommended option.
        package static let standard = Cost(unchecked: 3, 64 << 20)

        /// Returns nil below libsodium's interactive limits (2 passes over 64 MiB), since guessing would be cheap, and
        /// above 16 passes or 1 GiB, since a damaged file would keep the program busy.
        package init?(operations: UInt64, memoryByteCount: Int) {
            guard (2...16).contains(operations), (64 << 20...1 << 30).contains(memoryByteCount) else { return nil }
            self.init(unchecked: operations, memoryByteCount)
        }

        private init(unchecked operations: UInt64, _ memoryByteCount: Int) {
            self.operations = operations
            self.memoryByteCount = memoryByteCount
        }
    }

    /// Writes a key of at least 16 bytes into `key`. Returns false if the system lacks the memory.
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
