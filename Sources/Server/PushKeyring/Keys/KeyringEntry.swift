internal import PushCore
public import SealedPush

/// What anyone may know about a name in the keyring.
public struct KeyringEntry: Hashable, Sendable {
    public let name: KeyName
    public let kind: AnyPublicKey.Kind
    /// When the name came into this keyring.
    public let created: Timestamp
    /// Whether the secret halves are, or were, here.
    public let isOwn: Bool
    /// Newest first.
    public let keys: [Key]
    /// A device's app.
    public let topic: Topic?
    /// A device's: whose signature its records carry, as text that was not checked.
    public let enrollmentText: String?
    /// A device's newest record, as text that was not checked; nil if it has no key in use, or never signed one.
    public let recordText: String?
    /// When that record ends.
    public let recordExpires: Timestamp?

    /// One key under the name.
    public struct Key: Hashable, Sendable {
        public let key: AnyPublicKey
        public let life: KeyLife
        /// Whether the secret half is here.
        public let hasSecret: Bool
    }

    /// The key that is sealed to, or sealed with, next; else the newest of all.
    public var key: AnyPublicKey { current.key }
    /// The same with its life.
    public var current: Key {
        let active = keys.filter { $0.life.state == .active }
        let confirmed = active.first { $0.life.confirmed != nil }
        // A device of one's own proves its new key by having it; a sender's new key must be known to devices first.
        return (kind == .device && isOwn ? active.first : confirmed ?? active.first) ?? keys[0]
    }

    /// The enrollment key. Costs about 100 µs.
    public var enrollment: EnrollmentPublicKey? { enrollmentText.flatMap { try? EnrollmentPublicKey(parsing: $0) } }
    /// The record, once its signature was checked. Costs about 200 µs.
    public var record: DeviceRecord? { recordText.flatMap { try? DeviceRecord(parsing: $0) } }

    init(name: KeyName, _ file: NamedKeys) {
        self.name = name
        kind = file.kind
        created = file.created
        isOwn = file.isOwn
        topic = file.topic
        enrollmentText = file.enrollmentText
        recordText = file.recordText
        recordExpires = file.recordExpires
        keys = file.keys.map { Key(key: $0.key, life: $0.life, hasSecret: $0.secret != nil) }
    }
}

/// A key's name: 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit.
public struct KeyName: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Nil unless the text is a name.
    public init?(parsing text: String) {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, first.isLetter || first.isDigit,
            text.utf8.allSatisfy(\.isOfFileName)
        else { return nil }
        description = text
    }
}

extension KeyName: ExpressibleByStringLiteral {
    /// A name that stands in the program's own source; an unusable one stops the program.
    public init(stringLiteral text: String) {
        guard let name = KeyName(parsing: text) else {
            preconditionFailure("a key's name has 1 to 64 letters, digits, dots, hyphens and underscores")
        }
        self = name
    }
}
