public import SealedPush

extension DeviceRole: NamedRole { static func named(_ key: DevicePublicKey) -> AnyPublicKey { .device(key) } }
extension SenderRole: NamedRole { static func named(_ key: SenderPublicKey) -> AnyPublicKey { .sender(key) } }
extension AuthorityRole: NamedRole { static func named(_ key: AuthorityPublicKey) -> AnyPublicKey { .authority(key) } }

/// The public information about a name in the keyring.
public struct KeyringEntry: Hashable, Sendable {
    /// The name of the keys.
    public let name: KeyName
    /// The purpose of their secret halves.
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
        /// The public key.
        public let key: AnyPublicKey
        /// Its state, and when it changed.
        public let life: KeyLife
        /// Whether the secret half is here.
        public let hasSecret: Bool
    }

    /// The key to seal to, or to seal with, next. If there's none, the newest key.
    public var key: AnyPublicKey { current.key }
    /// The key to use next, with its life.
    public let current: Key

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
        keys = named.keys.map(Key.init)
        current = named.current.map(Key.init) ?? keys[0]
    }
}

extension KeyringEntry.Key {
    fileprivate init(_ named: NamedKey) {
        self.init(key: named.key, life: named.life, hasSecret: named.secret != nil)
    }
}
