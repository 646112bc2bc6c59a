internal import PushCrypto
internal import SealedPush

/// What stands under one name: the keys of one device, sender or authority, newest first, each with its life.
struct KeyFile: Sendable {
    let kind: AnyPublicKey.Kind
    /// When the name came into this keyring.
    let created: Timestamp
    var topic: Topic?
    /// A device's: whose signature its records carry.
    var enrolment: Enrolment?
    var enrolmentSecret: StoredSecret?
    /// A device's newest record.
    var record: DeviceRecord?
    /// Somebody else's device: what it was asked to prove that it has its key.
    var challenge: PendingChallenge?
    /// An authority's: that of the last sender set it has signed. A device's: that of its last record, while it has none.
    var counter: UInt64?
    var keys: [StoredKey]

    init(kind: AnyPublicKey.Kind, created: Timestamp, keys: [StoredKey]) {
        self.kind = kind
        self.created = created
        self.keys = keys
    }

    /// Whether the secrets are here, in whatever state.
    var isOwn: Bool { keys.contains { $0.secret != nil || $0.life.state == .erased } }

    /// Whether there are secrets that the keyring's key has not opened.
    var hasSealedSecrets: Bool {
        ([enrolmentSecret] + keys.map(\.secret)).contains { secret in
            guard case .sealed? = secret else { return false }
            return true
        }
    }

    /// The keys' lives, and the rules that they follow. Set after an act that adds no key.
    var rotation: KeyRotation<AnyPublicKey> {
        get { KeyRotation(keys.map { ($0.key, $0.life) }) }
        set { for index in keys.indices { keys[index].life = newValue.members[index].life } }
    }

    /// The newest key that is in use: of two active ones the confirmed one seals for a sender, the newest for others.
    var newest: StoredKey? { keys.first { $0.life.state == .active } }
    var newestConfirmed: StoredKey? { keys.first { $0.life.state == .active && $0.life.confirmed != nil } }
}

/// One key in a file.
struct StoredKey: Sendable {
    let key: AnyPublicKey
    var life: KeyLife
    var secret: StoredSecret?

    var secretText: SecretText? {
        guard case .open(let text)? = secret else { return nil }
        return text
    }
}
