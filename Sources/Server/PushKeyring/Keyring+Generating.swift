public import SealedPush

extension Keyring {
    /// Makes a device's key. Its name is free afterwards for no other key.
    ///
    /// - Parameter topic: the app's; with one the device gets an enrollment key too, and its first signed record.
    @discardableResult
    public func generateDevice(
        named name: KeyName, topic: Topic? = nil, at now: Timestamp = .now()
    ) throws(KeyringError) -> DevicePublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            try change.requireFree(name)
            let identity = DevicePrivateKey()
            var file = NamedKeys(kind: .device, created: now, keys: [StoredKey(identity, at: now)])
            if let topic { try file.enroll(for: topic, at: now) }
            change.save(file, as: name)
            change.note(.generated, name, .device(identity.recipient))
            return identity.recipient
        }
    }

    /// Makes a sender's key.
    @discardableResult
    public func generateSender(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> SenderPublicKey
    {
        try generate(.sender, named: name, at: now)
    }

    /// Makes an authority's key, which signs sender sets. Keep its keyring offline.
    @discardableResult
    public func generateAuthority(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError)
        -> AuthorityPublicKey
    {
        try generate(.authority, named: name, at: now)
    }

    private func generate<Role: NamedRole>(
        _ kind: AnyPublicKey.Kind, named name: KeyName, at now: Timestamp
    ) throws(KeyringError) -> PublicKey<Role> {
        let key = PrivateKey<Role>()
        try change(at: now) { (change) throws(KeyringError) in
            try change.requireFree(name)
            let stored = StoredKey(key, at: now)
            change.save(NamedKeys(kind: kind, created: now, keys: [stored]), as: name)
            change.note(.generated, name, stored.key)
        }
        return key.publicKey
    }

    /// Gives an own device that has none an enrollment key and its first record.
    @discardableResult
    public func enroll(
        _ name: KeyName, topic: Topic, at now: Timestamp = .now()
    ) throws(KeyringError) -> DeviceRecord {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.ownKeys(name)
            guard file.kind == .device else { throw .wrongKind(name, expected: .device) }
            guard file.enrollment == nil else { throw .record(.otherTopic) }
            guard file.newest != nil else { throw .notUsable(name, file.keys[0].life.state) }
            try file.enroll(for: topic, at: now)
            guard let record = file.record else { throw .noSecret(name) }
            change.save(file, as: name)
            change.note(.signed, name, file.newest?.key)
            return record
        }
    }
}

extension StoredKey {
    /// A first key, which takes nobody's place.
    init<Role: NamedRole>(_ key: PrivateKey<Role>, at now: Timestamp) {
        self.init(
            key: Role.named(key.publicKey), life: KeyLife(created: now, confirmed: now), secret: SecretText.of(key))
    }
}

extension NamedKeys {
    /// Makes an enrollment key and the first record.
    mutating func enroll(for topic: Topic, at now: Timestamp) throws(KeyringError) {
        let key = EnrollmentPrivateKey()
        self.topic = topic
        enrollment = key.enrollment
        enrollmentSecret = SecretText.of(key)
        try signRecord(at: now)
    }

    /// Signs a record of the active keys, newest first; takes the record away where there is none. Does nothing for a
    /// device that is not enrolled.
    mutating func signRecord(at now: Timestamp) throws(KeyringError) {
        guard case .open(let secret)? = enrollmentSecret, let key = secret.enrollmentKey, let topic else { return }
        let rotation = KeyRotation(keys.compactMap { stored in stored.recipient.map { ($0, stored.life) } })
        let last = record?.counter ?? counter
        guard !rotation.active.isEmpty else {
            (record, counter) = (nil, last)
            return
        }
        do {
            record = try DeviceRecord(of: rotation, topic: topic, after: last, at: now, signedBy: key)
            counter = nil
        } catch { throw .record(error) }
    }
}

extension StoredKey {
    var recipient: DevicePublicKey? {
        guard case .device(let recipient) = key else { return nil }
        return recipient
    }

    var sender: SenderPublicKey? {
        guard case .sender(let sender) = key else { return nil }
        return sender
    }
}
