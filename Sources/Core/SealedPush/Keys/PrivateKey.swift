internal import PushCore

/// A secret key: a ``DevicePrivateKey``, ``SenderPrivateKey``, ``AuthorityPrivateKey``, or ``EnrollmentPrivateKey``.
///
/// Its bytes are in guarded memory that is wiped with the last reference; printing, interpolating, or reflecting a key shows
/// only the public half. Thread-safe. A process can hold about 16,000 keys. Source: Specification 8.
public final class PrivateKey<Role: KeyRole>: Sendable {
    /// The public half.
    public let publicKey: PublicKey<Role>
    private let secret: GuardedSecret

    /// Creates a random key; about 45 µs, or 180 µs for a key that signs.
    public convenience init() { self.init(Role.kind.algorithms[0]) }

    /// Creates a random key of an algorithm that the role allows and that is available.
    package convenience init(_ algorithm: KeyAlgorithm) {
        precondition(algorithm.isAvailable && Role.kind.algorithms.contains(algorithm))
        self.init(algorithm, GuardedSecret(count: algorithm.secretByteCount) { SecureRandom.fill($0) })
    }

    /// Parses the secret text, which must be uppercase ASCII, from memory that its owner wipes.
    public convenience init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) { self.init(try Parts(text)) }

    /// Parses the same text from an array, which the caller must wipe.
    public convenience init(parsing text: [UInt8]) throws(KeyTextError) {
        guard !text.isEmpty else { throw .notAKey }
        // Through scratch memory, since an array can't lend its bytes to a closure with typed throws.
        let scratch = WipedBytes(count: text.count) { $0.copyBytes(from: text) }
        self.init(try scratch.withBytes { (text) throws(KeyTextError) in try Parts(text) })
    }

    /// Parses the same text from a string, which can't be wiped; if that matters, pass bytes.
    public convenience init(parsing text: String) throws(KeyTextError) {
        var text = Array(text.utf8)
        defer { wipe(&text) }
        try self.init(parsing: text)
    }

    private convenience init(_ parts: consuming Parts) { self.init(parts.algorithm, parts.secret) }

    private init(_ algorithm: KeyAlgorithm, _ secret: consuming GuardedSecret) {
        publicKey = PublicKey(checked: secret.withBytes(algorithm.publicKey(of:)), algorithm)
        self.secret = secret
    }

    /// Lends the secret text, as ASCII, while `body` runs. The text is wiped afterward and must not escape. Use this
    /// only to store a key: anyone with this text has the key.
    public func withSecretText<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let prefix = Role.kind.secretPrefix(publicKey.algorithm)
        let text = secret.withBytes { Bech32.encode($0, prefix: prefix, inCapitals: true) }
        return try text.withBytes(body)
    }

    package func withBytes<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try secret.withBytes(body)
    }

    private struct Parts: ~Copyable {
        let algorithm: KeyAlgorithm
        let secret: GuardedSecret

        init(_ text: UnsafeRawBufferPointer) throws(KeyTextError) {
            let forms = Role.kind.algorithms.map(Role.kind.secretForm)
            let index = Bech32.index(of: text, in: forms)
            let bytes = try Bech32.decode(text, as: forms[index])
            guard Role.kind.algorithms[index].isAvailable else { throw KeyTextError.unsupported }
            algorithm = Role.kind.algorithms[index]
            secret = GuardedSecret(count: bytes.count) { secret in bytes.withBytes { secret.copyMemory(from: $0) } }
        }
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    /// The public half's text, never the secret.
    public var description: String { "\(Role.kind.names.secretKey)(\(publicKey))" }

    /// The public half only.
    public var customMirror: Mirror { Mirror(self, children: [Role.kind.names.publicKey: publicKey.description]) }
}
