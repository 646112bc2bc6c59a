package import PushCore

/// The 32 secret bytes of an X25519 key on their own, as PushCore's functions expect them.
package struct X25519PrivateKey: ~Copyable, X25519Secret {
    package let publicKey: X25519PublicKey
    private let secret: GuardedSecret

    package static func random() -> X25519PrivateKey {
        X25519PrivateKey(secret: GuardedSecret(count: X25519.secretByteCount) { SecureRandom.fill($0) })
    }

    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(secret: GuardedSecret(count: bytes.count) { $0.copyMemory(from: bytes) })
    }

    package init(_ bytes: [UInt8]) {
        self.init(secret: GuardedSecret(count: bytes.count) { $0.copyBytes(from: bytes) })
    }

    private init(secret: consuming GuardedSecret) {
        publicKey = secret.withBytes { X25519.publicKey(of: $0) }
        self.secret = secret
    }

    package func withScalar<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withBytes(body)
    }
}

extension X25519PublicKey {
    package init(_ bytes: some Sequence<UInt8>) throws(X25519Error) {
        let key = Array(bytes).withUnsafeBytes { try? X25519PublicKey($0) }
        guard let key else { throw .invalidPublicKey }
        self = key
    }
}

/// The same for Ed25519.
package struct Ed25519PrivateKey: ~Copyable, Sendable {
    package let publicKey: Ed25519PublicKey
    private let secret: GuardedSecret

    package static func random() -> Ed25519PrivateKey {
        Ed25519PrivateKey(secret: GuardedSecret(count: Ed25519.secretByteCount) { SecureRandom.fill($0) })
    }

    package init(copying bytes: UnsafeRawBufferPointer) {
        self.init(secret: GuardedSecret(count: bytes.count) { $0.copyMemory(from: bytes) })
    }

    package init(_ bytes: [UInt8]) {
        self.init(secret: GuardedSecret(count: bytes.count) { $0.copyBytes(from: bytes) })
    }

    private init(secret: consuming GuardedSecret) {
        publicKey = try! Ed25519PublicKey(secret.withBytes { Ed25519.publicKey(of: $0) })
        self.secret = secret
    }

    package func sign(_ message: [UInt8]) -> [UInt8] { secret.withBytes { Ed25519.sign(message, with: $0) } }
}

/// An Ed25519 public key that was validated.
package struct Ed25519PublicKey: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: UnsafeRawBufferPointer) throws(Ed25519Error) {
        guard Ed25519.isValid(bytes) else { throw .invalidPublicKey }
        self.bytes = Array(bytes)
    }

    package init(_ bytes: some Sequence<UInt8>) throws(Ed25519Error) {
        let key = Array(bytes).withUnsafeBytes { try? Ed25519PublicKey($0) }
        guard let key else { throw .invalidPublicKey }
        self = key
    }

    package func verify(_ signature: some Collection<UInt8>, of message: [UInt8]) -> Bool {
        Ed25519.verify(signature, of: message, by: bytes)
    }
}

package enum Ed25519Error: Error { case invalidPublicKey }
