internal import PushCore
public import SealedPush

/// A public key of any kind that a keyring stores under a name.
public enum AnyPublicKey: Hashable, Sendable, CustomStringConvertible {
    case device(DevicePublicKey)
    case sender(SenderPublicKey)
    case authority(AuthorityPublicKey)

    /// The purpose of the secret half.
    public enum Kind: String, Sendable, CaseIterable {
        /// Opens messages.
        case device
        /// Seals messages.
        case sender
        /// Signs an app's sender sets.
        case authority
    }

    /// Parses `push1…`, `pushpq1…`, `pushsender1…`, or `pushauthority1…`.
    public init(parsing text: String) throws(KeyTextError) {
        do {
            self = .device(try DevicePublicKey(parsing: text))
            return
        } catch { guard error == .wrongKind else { throw error } }
        do {
            self = .sender(try SenderPublicKey(parsing: text))
            return
        } catch { guard error == .wrongKind else { throw error } }
        self = .authority(try AuthorityPublicKey(parsing: text))
    }

    public var kind: Kind {
        switch self {
        case .device: .device
        case .sender: .sender
        case .authority: .authority
        }
    }

    public var keyID: KeyID {
        switch self {
        case .device(let recipient): recipient.keyID
        case .sender(let sender): sender.keyID
        case .authority(let authority): authority.keyID
        }
    }

    /// The fingerprint to compare with the one that the owner sees.
    public var fingerprint: Fingerprint {
        switch self {
        case .device(let recipient): Fingerprint(of: recipient)
        case .sender(let sender): Fingerprint(of: sender)
        case .authority(let authority): Fingerprint(of: authority)
        }
    }

    var device: DevicePublicKey? {
        guard case .device(let recipient) = self else { return nil }
        return recipient
    }

    var sender: SenderPublicKey? {
        guard case .sender(let sender) = self else { return nil }
        return sender
    }

    /// The key's text.
    public var description: String {
        switch self {
        case .device(let recipient): recipient.description
        case .sender(let sender): sender.description
        case .authority(let authority): authority.description
        }
    }
}

/// The roles whose keys have names in a keyring.
protocol NamedRole: KeyRole { static func named(_ key: PublicKey<Self>) -> AnyPublicKey }

extension DeviceRole: NamedRole { static func named(_ key: DevicePublicKey) -> AnyPublicKey { .device(key) } }
extension SenderRole: NamedRole { static func named(_ key: SenderPublicKey) -> AnyPublicKey { .sender(key) } }
extension AuthorityRole: NamedRole { static func named(_ key: AuthorityPublicKey) -> AnyPublicKey { .authority(key) } }

/// A key's name: 1 to 64 letters, digits, dots, hyphens, and underscores, starting with a letter or digit.
public struct KeyName: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    public let description: String

    /// Returns nil unless the text is a valid name.
    public init?(parsing text: String) {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, first.isLetter || first.isDigit,
            text.utf8.allSatisfy(\.isOfFileName)
        else { return nil }
        description = text
    }

    /// Creates a name from a literal. An invalid literal stops the program.
    public init(stringLiteral text: String) {
        guard let name = KeyName(parsing: text) else {
            preconditionFailure("a key's name must be 1 to 64 letters, digits, dots, hyphens, and underscores")
        }
        self = name
    }
}

/// The public information about a name in the keyring.
public struct KeyringEntry: Hashable, Sendable {
    public let name: KeyName
    public let kind: AnyPublicKey.Kind
    /// The time at which the name was added to this keyring.
    public let created: Timestamp
    /// Whether the secret halves are, or were, stored here.
    public let isOwn: Bool
    /// The keys, newest first.
    public let keys: [Key]
    /// A device's app.
    public let topic: Topic?
    /// The key that signs a device's records, as unchecked text.
    public let enrollmentText: String?
    /// A device's newest record, as unchecked text. Nil if no key is in use, or it has never signed one.
    public let recordText: String?
    /// The time at which that record expires.
    public let recordExpires: Timestamp?

    /// One key under the name.
    public struct Key: Hashable, Sendable {
        public let key: AnyPublicKey
        public let life: KeyLife
        /// Whether the secret half is here.
        public let hasSecret: Bool
    }

    /// The key to seal to, or to seal with, next. If there's none, the newest key.
    public var key: AnyPublicKey { current.key }
    /// The key to use next, with its life.
    public var current: Key {
        let active = keys.filter { $0.life.state == .active }
        let confirmed = active.first { $0.life.confirmed != nil }
        // Your own device proves its new key by having it. Devices must learn a sender's new key first.
        return (kind == .device && isOwn ? active.first : confirmed ?? active.first) ?? keys[0]
    }

    /// The enrollment key. Takes about 100 µs.
    public var enrollment: EnrollmentPublicKey? { enrollmentText.flatMap { try? EnrollmentPublicKey(parsing: $0) } }
    /// The record, after checking its signature. Takes about 200 µs.
    public var record: DeviceRecord? { recordText.flatMap { try? DeviceRecord(parsing: $0) } }

    init(_ named: NamedKeys) {
        name = named.name
        kind = named.kind
        created = named.created
        isOwn = named.isOwn
        topic = named.topic
        enrollmentText = named.enrollmentText
        recordText = named.recordText
        recordExpires = named.recordExpires
        keys = named.keys.map { Key(key: $0.key, life: $0.life, hasSecret: $0.secret != nil) }
    }
}
