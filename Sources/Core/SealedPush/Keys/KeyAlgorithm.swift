package import PushCore

/// One algorithm of keys: their lengths, their text, and how they are created and checked.
package enum KeyAlgorithm: Sendable {
    /// Device keys. Source: Specification 3.3.
    case x25519
    /// Sender keys: the secret is a seed from which the scalar is derived. Source: Specification 3.7.
    case x25519Seed
    /// Device keys of the hybrid suite: an ML-KEM-768 key, then an X25519 key. The secret is a seed for both.
    /// Source: Specification 3.8.
    case hybrid
    /// Keys of authorities and enrollments. Source: Specification 8.6.
    case ed25519

    package var identifier: UInt8 {
        switch self {
        case .x25519, .x25519Seed: 0x01
        case .ed25519: 0x02
        case .hybrid: 0x03
        }
    }

    /// The algorithm's part of a key's text, after the words for its type; empty for the original algorithms.
    var label: String {
        switch self {
        case .x25519, .x25519Seed, .ed25519: ""
        case .hybrid: "pq"
        }
    }

    package var publicByteCount: Int {
        switch self {
        case .x25519, .x25519Seed: X25519PublicKey.byteCount
        case .hybrid: MLKEM768.publicKeyByteCount + X25519PublicKey.byteCount
        case .ed25519: Ed25519.publicByteCount
        }
    }

    package var secretByteCount: Int {
        switch self {
        case .x25519: X25519.secretByteCount
        case .x25519Seed, .hybrid: Seed.byteCount
        case .ed25519: Ed25519.secretByteCount
        }
    }

    /// Whether this machine has a library with the algorithm.
    package var isAvailable: Bool {
        switch self {
        case .x25519, .x25519Seed, .ed25519: true
        case .hybrid: MLKEM768.isAvailable
        }
    }

    /// Whether bytes of the right length are a public key that is safe to use.
    func isSafe(_ key: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .x25519, .x25519Seed: (try? X25519PublicKey(key)) != nil
        case .hybrid:
            MLKEM768.isValid(UnsafeRawBufferPointer(rebasing: key[..<MLKEM768.publicKeyByteCount]))
                && KeyAlgorithm.x25519.isSafe(UnsafeRawBufferPointer(rebasing: key[MLKEM768.publicKeyByteCount...]))
        case .ed25519: Ed25519.isValid(key)
        }
    }

    /// Returns the public key of any secret bytes of the right length.
    func publicKey(of secret: UnsafeRawBufferPointer) -> [UInt8] {
        switch self {
        case .x25519: return X25519.publicKey(of: secret).bytes
        case .x25519Seed: return Self.scalar(of: secret, Seed.expandScalar).withBytes { X25519.publicKey(of: $0).bytes }
        case .hybrid:
            let mlkem = WipedBytes(count: MLKEM768.seedByteCount) { Seed.expand(secret, Seed.mlkemLabel, into: $0) }
            let scalar = Self.scalar(of: secret, Seed.expandDeviceScalar)
            return mlkem.withBytes { MLKEM768.publicKey(of: $0) }
                + scalar.withBytes { X25519.publicKey(of: $0).bytes }
        case .ed25519: return Ed25519.publicKey(of: secret)
        }
    }

    /// Lends the X25519 scalar of a secret to `body`.
    fileprivate func withScalar<Result: ~Copyable, Failure: Error>(
        of secret: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch self {
        case .x25519: try body(secret)
        case .x25519Seed: try Self.scalar(of: secret, Seed.expandScalar).withBytes(body)
        case .hybrid: try Self.scalar(of: secret, Seed.expandDeviceScalar).withBytes(body)
        case .ed25519: preconditionFailure("a key that signs has no X25519 scalar")
        }
    }

    private static func scalar(
        of seed: UnsafeRawBufferPointer,
        _ expand: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Void
    ) -> WipedBytes {
        WipedBytes(count: X25519.secretByteCount) { expand(seed, $0) }
    }
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
        try key.withBytes { (secret) throws(Failure) in try key.publicKey.algorithm.withScalar(of: secret, body) }
    }
}
