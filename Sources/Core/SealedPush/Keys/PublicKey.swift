internal import PushCore

/// A public key: a ``DevicePublicKey``, ``SenderPublicKey``, ``AuthorityPublicKey``, or ``EnrollmentPublicKey``.
///
/// Always safe to use. May be printed, stored, and sent. Keys are equal if all their bytes are. Source: Specification 8.
public struct PublicKey<Role: KeyRole>: Sendable {
    package let algorithm: KeyAlgorithm
    package let bytes: [UInt8]
    /// The first four bytes of the key's SHA-256, which tell keys apart at a glance and help find one.
    public let keyID: KeyID

    /// Parses a key's text, all lowercase or, except for a hybrid key, all uppercase; about 10 µs, or 110 µs for a key that
    /// signs.
    public init(parsing text: String) throws(KeyTextError) {
        let kind = Role.kind
        let armored = kind.algorithms.lazy.compactMap { algorithm in kind.armor(algorithm).map { (algorithm, $0) } }
            .first { text.utf8.starts(with: $0.1.prefix.utf8) }
        let (algorithm, bytes) =
            if let (algorithm, armor) = armored {
                (algorithm, try Self.bytes(of: text, in: armor))
            } else {
                (kind.algorithms[0], try Self.bytes(of: text, in: kind.form(kind.algorithms[0])))
            }
        guard algorithm.isAvailable else { throw .unsupported }
        guard let key = PublicKey(bytes, algorithm) else { throw .unsafeKey }
        self = key
    }

    private static func bytes(of text: String, in form: Bech32.Form) throws(KeyTextError) -> [UInt8] {
        let characters = Array(text.utf8)
        let bytes = characters.withUnsafeBytes { text in
            Result { () throws(KeyTextError) in try Bech32.decode(text, as: form).withBytes { Array($0) } }
        }
        return try bytes.get()
    }

    /// Source: Specification 8.8.
    private static func bytes(of text: String, in armor: ArmoredText) throws(KeyTextError) -> [UInt8] {
        guard let checked = armor.bytes(of: text) else {
            if text.last?.isWhitespace == true { throw .whiteSpace }
            throw armor.characterCounts.contains(text.utf8.count) ? .wrongCharacter : .wrongLength
        }
        guard let bytes = ArmoredText.removingChecksum(from: checked) else { throw .wrongChecksum }
        return bytes
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

    init(checked bytes: [UInt8], _ algorithm: KeyAlgorithm) {
        self.algorithm = algorithm
        self.bytes = bytes
        keyID = KeyID(of: bytes)
    }

    /// The start of the key's text, before the `1` or the dot.
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
        if let armor = Role.kind.armor(algorithm) {
            return armor.text(of: ArmoredText.appendingChecksum(to: bytes))
        }
        return bytes.withUnsafeBytes { bytes in
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
