package import PushCore

/// Creates and checks one algorithm's keys, and defines their lengths. A class, so that copies are free.
package final class KeyAlgorithm: Sendable {
    package let identifier: UInt8
    /// The algorithm's part of a key's text, after the words for its type; empty for the original algorithms.
    let label: StaticString
    package let publicByteCount: Int
    package let secretByteCount: Int
    /// Whether bytes of the right length are a public key that is safe to use.
    let isSafe: @Sendable (UnsafeRawBufferPointer) -> Bool
    /// Returns the public key of any secret bytes of the right length.
    let publicKey: @Sendable (UnsafeRawBufferPointer) -> [UInt8]
    /// Writes the X25519 scalar that is derived from a secret; nil if the secret is the scalar.
    let scalar: (@Sendable (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Void)?

    private init(
        identifier: UInt8, label: StaticString, publicByteCount: Int, secretByteCount: Int,
        isSafe: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool,
        publicKey: @escaping @Sendable (UnsafeRawBufferPointer) -> [UInt8],
        scalar: (@Sendable (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Void)? = nil
    ) {
        self.identifier = identifier
        self.label = label
        self.publicByteCount = publicByteCount
        self.secretByteCount = secretByteCount
        self.isSafe = isSafe
        self.publicKey = publicKey
        self.scalar = scalar
    }

    /// Device keys. Source: Specification 3.3.
    package static let x25519 = KeyAlgorithm(
        identifier: 0x01, label: "", publicByteCount: X25519PublicKey.byteCount,
        secretByteCount: X25519.secretByteCount, isSafe: { (try? X25519PublicKey($0)) != nil },
        publicKey: { X25519.publicKey(of: $0).bytes })

    /// Sender keys: the secret is a seed from which the scalar is derived. Source: Specification 3.7.
    package static let x25519Seed = KeyAlgorithm(
        identifier: x25519.identifier, label: "", publicByteCount: X25519PublicKey.byteCount,
        secretByteCount: Seed.byteCount, isSafe: x25519.isSafe,
        publicKey: { seed in
            let scalar = WipedBytes(count: X25519.secretByteCount) { Seed.expandScalar(seed, into: $0) }
            return scalar.withBytes { X25519.publicKey(of: $0).bytes }
        }, scalar: Seed.expandScalar)

    /// Device keys of the hybrid suite: an ML-KEM-768 key, then an X25519 key. The secret is a seed for both.
    /// Source: Specification 3.8.
    package static let hybrid = KeyAlgorithm(
        identifier: 0x03, label: "pq", publicByteCount: MLKEM768.publicKeyByteCount + X25519PublicKey.byteCount,
        secretByteCount: Seed.byteCount,
        isSafe: { key in
            MLKEM768.isValid(UnsafeRawBufferPointer(rebasing: key[..<MLKEM768.publicKeyByteCount]))
                && x25519.isSafe(UnsafeRawBufferPointer(rebasing: key[MLKEM768.publicKeyByteCount...]))
        },
        publicKey: { seed in
            let mlkem = WipedBytes(count: MLKEM768.seedByteCount) { Seed.expand(seed, Seed.mlkemLabel, into: $0) }
            let scalar = WipedBytes(count: X25519.secretByteCount) { Seed.expandDeviceScalar(seed, into: $0) }
            return mlkem.withBytes { MLKEM768.publicKey(of: $0) }
                + scalar.withBytes { X25519.publicKey(of: $0).bytes }
        }, scalar: Seed.expandDeviceScalar)

    var isAvailable: Bool { self != .hybrid || MLKEM768.isAvailable }

    /// Keys of authorities and enrollments. Source: Specification 8.6.
    package static let ed25519 = KeyAlgorithm(
        identifier: 0x02, label: "", publicByteCount: Ed25519.publicByteCount,
        secretByteCount: Ed25519.secretByteCount, isSafe: Ed25519.isValid,
        publicKey: Ed25519.publicKey)
}

extension KeyAlgorithm: Hashable {
    package static func == (one: KeyAlgorithm, other: KeyAlgorithm) -> Bool { one.identifier == other.identifier }
    package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension PublicKey {
    package var isHybrid: Bool { algorithm == .hybrid }

    /// The X25519 key, for suites whose keys have one.
    package var x25519: X25519PublicKey {
        // The last part of a hybrid key.
        bytes.suffix(X25519PublicKey.byteCount).withUnsafeBytes { X25519PublicKey(checked: $0) }
    }
}

extension PrivateKey {
    package var x25519: some X25519Secret { X25519Half(key: self) }

    /// Returns the key's 64-byte signature of a message; about 60 µs.
    package func sign(_ message: [UInt8]) -> [UInt8] where Role: SigningRole {
        withBytes { Ed25519.sign(message, with: $0) }
    }
}

extension PublicKey where Role: SigningRole {
    /// Whether 64 bytes are this key's signature of a message; about 60 µs.
    package func verify(_ signature: some Collection<UInt8>, of message: [UInt8]) -> Bool {
        Ed25519.verify(signature, of: message, by: bytes)
    }
}

private struct X25519Half<Role: KeyRole>: X25519Secret {
    let key: PrivateKey<Role>

    var publicKey: X25519PublicKey { key.publicKey.x25519 }

    func withScalar<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let expand = key.publicKey.algorithm.scalar else { return try key.withBytes(body) }
        let scalar = WipedBytes(count: X25519.secretByteCount) { scalar in key.withBytes { expand($0, scalar) } }
        return try scalar.withBytes(body)
    }
}
