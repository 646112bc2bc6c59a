internal import PushCore

/// A public key: a ``DevicePublicKey``, ``SenderPublicKey``, ``AuthorityPublicKey``, or ``EnrollmentPublicKey``.
///
/// Always safe to use. May be printed, stored, and sent. Keys are equal if all their bytes are. Source: Specification 8.
public struct PublicKey<Role: KeyRole>: Sendable {
    package let algorithm: KeyAlgorithm
    package let bytes: [UInt8]
    /// The first four bytes of the key's SHA-256, which tell keys apart at a glance and help find one.
    public let keyID: KeyID

    /// Parses a key's text, all lowercase or all uppercase; about 10 µs, or 110 µs for a key that signs.
    public init(parsing text: String) throws(KeyTextError) {
        let characters = Array(text.utf8)
        let key = characters.withUnsafeBytes { text in
            Result { () throws(KeyTextError) in
                let forms = Role.kind.forms(isSecret: false)
                let index = Bech32.index(of: text, in: forms)
                let bytes = try Bech32.decode(text, as: forms[index], among: forms).withBytes { Array($0) }
                guard Role.kind.algorithms[index].isAvailable else { throw KeyTextError.unsupported }
                guard let key = PublicKey(bytes, Role.kind.algorithms[index]) else { throw KeyTextError.unsafeKey }
                return key
            }
        }
        self = try key.get()
    }

    /// Returns nil unless the bytes are a safe public key of the right length.
    package init?(_ bytes: some Sequence<UInt8>, _ algorithm: KeyAlgorithm) {
        let bytes = Array(bytes)
        guard bytes.count == algorithm.publicByteCount, bytes.withUnsafeBytes(algorithm.isSafe) else { return nil }
        self.init(checked: bytes, algorithm)
    }

    /// Creates a key from bytes, whose length determines the algorithm.
    package init?(bytes: [UInt8]) {
        guard let algorithm = Role.kind.algorithms.first(where: { $0.publicByteCount == bytes.count }) else {
            return nil
        }
        self.init(bytes, algorithm)
    }

    /// The lengths of such keys, one for each algorithm.
    package static var byteCounts: [Int] { Role.kind.algorithms.map(\.publicByteCount) }

    fileprivate init(checked bytes: [UInt8], _ algorithm: KeyAlgorithm) {
        self.algorithm = algorithm
        self.bytes = bytes
        keyID = KeyID(of: bytes)
    }

    /// The start of the key's text, before the `1`.
    var prefix: String { Role.kind.prefix(algorithm) }
}

extension PublicKey: Hashable {
    public static func == (one: PublicKey, other: PublicKey) -> Bool {
        one.bytes == other.bytes && one.algorithm == other.algorithm
    }

    public func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

extension PublicKey: CustomStringConvertible {
    /// The text that ``init(parsing:)`` parses.
    public var description: String {
        bytes.withUnsafeBytes { bytes in
            Bech32.encode(bytes, prefix: prefix, inCapitals: false).withBytes { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension PublicKey: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
    ExpressibleByStringLiteral
where Role: TrustedRole {
    /// Parses a key in the program's own source; an invalid one stops the program.
    public init(stringLiteral text: String) {
        do {
            try self.init(parsing: text)
        } catch {
            error.stop(the: Role.kind, text)
        }
    }
}

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
        publicKey = PublicKey(checked: secret.withBytes(algorithm.publicKey), algorithm)
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
            let forms = Role.kind.forms(isSecret: true)
            let index = Bech32.index(of: text, in: forms)
            let bytes = try Bech32.decode(text, as: forms[index], among: forms)
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

/// A reason why a text isn't a key. Contains no part of the text, which may have been a secret.
public enum KeyTextError: String, Error, CaseIterable, Sendable {
    /// Longer than any key of its type; the limit is at least 90 characters.
    case tooLong = "too-long"
    /// White space before or after the key.
    case whiteSpace = "white-space"
    /// Uppercase and lowercase letters in one key.
    case mixedCase = "mixed-case"
    /// No `1` after the type of key.
    case notAKey = "not-a-key"
    /// Another type of key, or something else altogether.
    case wrongKind = "wrong-kind"
    /// A secret key that isn't uppercase.
    case notInCapitals = "not-in-capitals"
    /// Not the number of characters for its type.
    case wrongLength = "wrong-length"
    /// A character that Bech32 doesn't use.
    case wrongCharacter = "wrong-character"
    /// A typo: the checksum is wrong.
    case wrongChecksum = "wrong-checksum"
    /// The bytes aren't a safe public key (Specification 3.3, 8.6).
    case unsafeKey = "unsafe-key"
    /// A hybrid key, but no library here has ML-KEM.
    case unsupported
}

extension KeyTextError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLong: "this is longer than the kind of key that is expected here"
        case .whiteSpace: "there is white space around the key, such as a line end; remove it"
        case .mixedCase: "a key must be all lowercase or all uppercase"
        case .notAKey:
            """
            this is not a key; public keys begin with push1, pushpq1, pushsender1, pushauthority1, or pushenrollment1, secret \
            keys with PUSH-SECRET-KEY-1, PUSH-PQ-SECRET-KEY-1, PUSH-SENDER-SECRET-KEY-1, PUSH-AUTHORITY-SECRET-KEY-1, or \
            PUSH-ENROLLMENT-SECRET-KEY-1
            """
        case .wrongKind: "this is not the type of key expected here"
        case .notInCapitals: "a secret key must be uppercase"
        case .wrongLength: "the key is incomplete, or too long"
        case .wrongCharacter: "the key contains an invalid character"
        case .wrongChecksum: "the key contains a typo: its checksum is wrong"
        case .unsafeKey: "the key is not safe to use: it is of low order, or not in its canonical form"
        case .unsupported: "this is a hybrid key, which needs ML-KEM; use libsodium 1.0.22 or the Server trait"
        }
    }
}

extension KeyTextError {
    /// Stops the program because of a key in its own source; a debug build prints it. Prints a text only if it begins like a
    /// public key, since any other may be a secret.
    func stop(the kind: KeyKind, _ text: String) -> Never {
        let beginning = "\(kind.prefix(kind.algorithms[0]))1"
        let shown = text.hasPrefix(beginning) ? String(text.prefix(KeyKind.maximumCharacterCount)) : "\(beginning)…"
        preconditionFailure("\(shown) in the source can't be used: \(self)")
    }
}
