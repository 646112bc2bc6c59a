internal import PushCore

/// A secret key: a ``DevicePrivateKey``, ``SenderPrivateKey``, ``AuthorityPrivateKey``, or ``EnrollmentPrivateKey``.
///
/// Its bytes are in guarded memory that is wiped with the last reference; printing, interpolating, or reflecting a key shows
/// only the public half. Thread-safe. A process can hold about 16,000 keys. Source: Specification 8.
public final class PrivateKey<Role: KeyRole>: Sendable {
    /// The public half.
    public let publicKey: PublicKey<Role>
    /// The secret, followed by the bytes derived from it.
    private let bytes: GuardedSecret

    /// Creates a random key; about 45 µs, or 180 µs for a key that signs.
    public convenience init() { self.init(Role.kind.algorithms[0]) }

    /// Creates a random key of an algorithm that the role allows and that is available.
    package convenience init(_ algorithm: KeyAlgorithm) {
        precondition(algorithm.isAvailable && Role.kind.algorithms.contains(algorithm))
        self.init(algorithm, SecureRandom.fill)
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

    private convenience init(_ parts: borrowing Parts) {
        self.init(parts.algorithm) { secret in parts.secret.withBytes { secret.copyMemory(from: $0) } }
    }

    private init(_ algorithm: KeyAlgorithm, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        let bytes = GuardedSecret(count: algorithm.secretByteCount + algorithm.derivedByteCount) { bytes in
            fill(UnsafeMutableRawBufferPointer(rebasing: bytes[..<algorithm.secretByteCount]))
            algorithm.derive(within: bytes)
        }
        publicKey = PublicKey(checked: bytes.withBytes(algorithm.publicKey(of:)), algorithm)
        self.bytes = bytes
    }

    /// Lends the secret text, as ASCII, while `body` runs. The text is wiped afterward and must not escape. Use this
    /// only to store a key: anyone with this text has the key.
    public func withSecretText<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let prefix = Role.kind.secretPrefix(publicKey.algorithm)
        let text = withBytes { Bech32.encode($0, prefix: prefix, inCapitals: true) }
        return try text.withBytes(body)
    }

    /// Lends the secret while `body` runs.
    package func withBytes<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try bytes.withBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<publicKey.algorithm.secretByteCount]))
        }
    }

    /// Lends the secret, followed by the bytes derived from it, while `body` runs.
    func withAllBytes<Answer: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try bytes.withBytes(body)
    }

    private struct Parts: ~Copyable {
        let algorithm: KeyAlgorithm
        let secret: WipedBytes

        init(_ text: UnsafeRawBufferPointer) throws(KeyTextError) {
            let forms = Role.kind.algorithms.map(Role.kind.secretForm)
            let index = Bech32.index(of: text, in: forms)
            let secret = try Bech32.decode(text, as: forms[index])
            guard Role.kind.algorithms[index].isAvailable else { throw KeyTextError.unsupported }
            algorithm = Role.kind.algorithms[index]
            self.secret = secret
        }
    }
}

extension PrivateKey: CustomStringConvertible, CustomReflectable {
    /// The public half's text, never the secret.
    public var description: String { "\(Role.kind.names.secretKey)(\(publicKey))" }

    /// The public half only.
    public var customMirror: Mirror { Mirror(self, children: [Role.kind.names.publicKey: publicKey.description]) }
}
