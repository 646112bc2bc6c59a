internal import PushCore

/// The public half of a key pair: a ``DevicePublicKey``, ``SenderPublicKey``, ``AuthorityPublicKey`` or ``EnrollmentPublicKey``.
///
/// Always one that is safe to use. May be printed, stored and sent. Equal where all bytes are. Source: Specification 8.
public struct PublicKey<Role: KeyRole>: Sendable {
    package let algorithm: KeyAlgorithm
    package let bytes: [UInt8]
    /// The first four bytes of its SHA-256: tells keys apart at a glance, and helps to find one.
    public let keyID: KeyID

    /// Reads a key's text, all in small letters or all in capitals; about 10 µs, one that signs 100 µs more.
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

    /// Nil unless they are as many as they should be, and safe to use.
    package init?(_ bytes: some Sequence<UInt8>, _ algorithm: KeyAlgorithm) {
        let bytes = Array(bytes)
        guard bytes.count == algorithm.publicByteCount, bytes.withUnsafeBytes(algorithm.isSafe) else { return nil }
        self.init(checked: bytes, algorithm)
    }

    /// The same for bytes that do not name their algorithm: a role's algorithms differ in length.
    package init?(bytes: [UInt8]) {
        guard let algorithm = Role.kind.algorithms.first(where: { $0.publicByteCount == bytes.count }) else {
            return nil
        }
        self.init(bytes, algorithm)
    }

    fileprivate init(checked bytes: [UInt8], _ algorithm: KeyAlgorithm) {
        self.algorithm = algorithm
        self.bytes = bytes
        keyID = KeyID(of: bytes)
    }

    /// How its text begins, before the `1`.
    var prefix: String { Role.kind.prefix(algorithm) }
}

extension PublicKey: Hashable {
    public static func == (one: PublicKey, other: PublicKey) -> Bool {
        one.bytes == other.bytes && one.algorithm == other.algorithm
    }

    public func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

extension PublicKey: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    public var description: String {
        bytes.withUnsafeBytes { bytes in
            Bech32.encode(bytes, prefix: prefix, inCapitals: false).withBytes { String(decoding: $0, as: UTF8.self) }
        }
    }
}

extension PublicKey: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
    ExpressibleByStringLiteral
where Role: TrustedRole {
    /// Reads a key that stands in the program's own source; one that is no such key stops the program.
    public init(stringLiteral text: String) {
        do {
            try self.init(parsing: text)
        } catch {
            error.stop(the: Role.kind, text)
        }
    }
}

/// The secret half of a key pair: an ``DevicePrivateKey``, ``SenderPrivateKey``, ``AuthorityPrivateKey`` or ``EnrollmentPrivateKey``.
///
/// Its bytes lie in guarded memory that is wiped with the last reference; printing, interpolating or reflecting one
/// shows the public half only. Safe to share between threads. A process can hold about 16,000. Source: Specification 8.
public final class PrivateKey<Role: KeyRole>: Sendable {
    /// The public half.
    public let publicKey: PublicKey<Role>
    private let secret: GuardedSecret

    /// Makes a new random key; about 45 µs, one that signs 180 µs.
    public convenience init() { self.init(Role.kind.algorithms[0]) }

    /// Makes a new random key of an algorithm that the role may have, and that is available.
    package convenience init(_ algorithm: KeyAlgorithm) {
        precondition(algorithm.isAvailable && Role.kind.algorithms.contains(algorithm))
        self.init(algorithm, GuardedSecret(count: algorithm.secretByteCount) { SecureRandom.fill($0) })
    }

    /// Reads the secret text, in capitals only, as ASCII from memory that its owner wipes.
    public convenience init(parsing text: UnsafeRawBufferPointer) throws(KeyTextError) { self.init(try Parts(text)) }

    /// Reads the same text from an array, which the caller wipes.
    public convenience init(parsing text: [UInt8]) throws(KeyTextError) {
        guard !text.isEmpty else { throw .notAKey }
        // Through scratch memory, since an array may not lend its bytes to what throws a typed error.
        let scratch = WipedBytes(count: text.count) { $0.copyBytes(from: text) }
        self.init(try scratch.withBytes { (text) throws(KeyTextError) in try Parts(text) })
    }

    /// Reads the same text from a string, which can't be wiped: where that matters, read bytes.
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

    /// Lends the secret text, as ASCII, for as long as `body` runs; it is wiped afterwards and must not escape.
    ///
    /// For storing a key and nothing else: whoever has this text has the key.
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

/// Why a text is not a key. Never holds any of the text: it may have been a secret.
public enum KeyTextError: String, Error, CaseIterable, Sendable {
    /// More characters than any key of its kind has; 90 at least are looked at.
    case tooLong = "too-long"
    /// White space before or behind it.
    case whiteSpace = "white-space"
    /// Capitals and small letters in one key.
    case mixedCase = "mixed-case"
    /// No `1` that ends the kind of key.
    case notAKey = "not-a-key"
    /// Another kind of key, or something else altogether.
    case wrongKind = "wrong-kind"
    /// A secret key is written in capitals.
    case notInCapitals = "not-in-capitals"
    /// Not the number of characters that its kind has.
    case wrongLength = "wrong-length"
    /// A character that Bech32 does not have.
    case wrongCharacter = "wrong-character"
    /// A typing error: the checksum does not fit.
    case wrongChecksum = "wrong-checksum"
    /// The bytes are no safe public key (Specification 3.3, 8.6).
    case unsafeKey = "unsafe-key"
    /// A hybrid key, and no library here has ML-KEM.
    case unsupported
}

extension KeyTextError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .tooLong: "this is longer than any key (\(KeyKind.maximumCharacterCount) characters)"
        case .whiteSpace: "there is white space around the key, such as a line end: cut it off"
        case .mixedCase: "a key is written in small letters or in capitals, not in both"
        case .notAKey:
            """
            this is no key: public keys begin with push1, pushsender1, pushauthority1 or pushenrollment1, secret keys \
            with PUSH-SECRET-KEY-1, PUSH-SENDER-SECRET-KEY-1, PUSH-AUTHORITY-SECRET-KEY-1 or PUSH-ENROLLMENT-SECRET-KEY-1
            """
        case .wrongKind: "this is not the kind of key that is expected here"
        case .notInCapitals: "a secret key is written in capitals"
        case .wrongLength: "a part of the key is missing, or there is too much of it"
        case .wrongCharacter: "there is a character in it that keys do not have"
        case .wrongChecksum: "the key has a typing error in it"
        case .unsafeKey: "the key is not safe to use: it is of low order, or not in its canonical form"
        case .unsupported: "this is a hybrid key, which needs ML-KEM: libsodium 1.0.22, or this package's trait Server"
        }
    }
}

extension KeyTextError {
    /// Stops the program for a key that stands in its own source; a debug build says which. Only what begins as a public
    /// key does is printed: anything else may be a secret.
    func stop(the kind: KeyKind, _ text: String) -> Never {
        let beginning = "\(kind.prefix(kind.algorithms[0]))1"
        let shown = text.hasPrefix(beginning) ? String(text.prefix(KeyKind.maximumCharacterCount)) : "\(beginning)…"
        preconditionFailure("\(shown) in the source can't be used: \(self)")
    }
}
