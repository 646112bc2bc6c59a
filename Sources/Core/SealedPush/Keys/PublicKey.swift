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

    init(checked bytes: [UInt8], _ algorithm: KeyAlgorithm) {
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
