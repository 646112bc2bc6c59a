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

    /// The number of bytes that are derived from a secret and lie behind it, so that no use derives them again.
    var derivedByteCount: Int {
        switch self {
        case .x25519, .ed25519: 0
        case .x25519Seed: X25519.secretByteCount
        case .hybrid: X25519.secretByteCount + MLKEM768.seedByteCount
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

    /// Derives from the secret at the start of `bytes` the bytes behind it.
    func derive(within bytes: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count == secretByteCount + derivedByteCount)
        let secret = UnsafeRawBufferPointer(rebasing: bytes[..<secretByteCount])
        func expand(_ label: StaticString, into range: Range<Int>) {
            Seed.expand(secret, label, into: UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
        }
        switch self {
        case .x25519, .ed25519: break
        case .x25519Seed: expand(Seed.senderScalarLabel, into: scalarRange)
        case .hybrid:
            expand(Seed.deviceScalarLabel, into: scalarRange)
            expand(Seed.mlkemLabel, into: mlkemSeedRange)
        }
    }

    /// Returns the public key of a secret with the derived bytes behind it.
    func publicKey(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        switch self {
        case .x25519, .x25519Seed: X25519.publicKey(of: scalar(in: bytes)).bytes
        case .hybrid: MLKEM768.publicKey(of: mlkemSeed(in: bytes)) + X25519.publicKey(of: scalar(in: bytes)).bytes
        case .ed25519: Ed25519.publicKey(of: bytes)
        }
    }

    fileprivate func scalar(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[scalarRange])
    }

    fileprivate func mlkemSeed(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[mlkemSeedRange])
    }

    private var scalarRange: Range<Int> {
        switch self {
        case .x25519: 0..<X25519.secretByteCount
        case .x25519Seed, .hybrid: secretByteCount..<secretByteCount + X25519.secretByteCount
        case .ed25519: preconditionFailure("a key that signs has no X25519 scalar")
        }
    }

    private var mlkemSeedRange: Range<Int> {
        precondition(self == .hybrid, "only a hybrid key has an ML-KEM seed")
        return scalarRange.upperBound..<scalarRange.upperBound + MLKEM768.seedByteCount
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

    /// Lends the ML-KEM seed of a hybrid key, d ‖ z, to `body`.
    func withMLKEMSeed<Answer: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
        withAllBytes { body(publicKey.algorithm.mlkemSeed(in: $0)) }
    }

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
        try key.withAllBytes { (bytes) throws(Failure) in try body(key.publicKey.algorithm.scalar(in: bytes)) }
    }
}
