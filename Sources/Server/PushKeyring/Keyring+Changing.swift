internal import PushCore
internal import PushSender
public import SealedPush

struct KeyringChange {
    var contents: KeyringContents
    /// Nil if the keyring isn't sealed.
    var key: KeyringSealKey?
    let now: Timestamp
    let command: String
    fileprivate(set) var notes: [AuditEntry] = []

    /// Adds a first key under a name, which must be free. With a topic, its device is enrolled, too.
    mutating func add(
        _ stored: NamedKey, as name: KeyName, _ event: AuditEntry.Event, topic: Topic? = nil
    ) throws(KeyringError) {
        guard contents.names[name] == nil else { throw .exists(name) }
        var keys = NamedKeys(name, kind: stored.key.kind, created: now, keys: [stored])
        if let topic { try keys.enroll(for: topic, at: now) }
        save(keys)
        note(event, name, stored.key)
    }

    mutating func save(_ keys: NamedKeys) { contents.names[keys.name] = keys }

    mutating func note(_ event: AuditEntry.Event, _ name: KeyName? = nil, _ key: AnyPublicKey? = nil) {
        notes.append(AuditEntry(time: now, event: event, name: name, key: key?.keyID.description, command: command))
    }
}

extension Keyring {
    /// Runs `body`, and writes its changes, all or none. A change without audit entries isn't written.
    func change<Answer>(
        at now: Timestamp, _ body: (inout KeyringChange) throws(KeyringError) -> Answer
    ) throws(KeyringError) -> Answer {
        while true {
            // Before locking, because prompting the user and deriving a key from a passphrase both take time.
            let before = try read(.full)
            var first: KeyringSealKey?
            if !before.exists, let givenSecret { first = try KeyringSealKey(new: givenSecret) }
            let answer = try files.locked { () throws(KeyringError) -> Answer? in
                let reading = try read(.known(before.key))
                // In the meantime, another process may have resealed or created the keyring.
                guard reading.exists == before.exists, reading.seal == before.seal else { return nil }
                var change = KeyringChange(
                    contents: reading.contents, key: reading.key ?? first, now: now, command: command)
                let answer = try body(&change)
                if change.notes.isEmpty { return answer }
                if change.key?.seal == reading.seal, reading.exists {
                    try write(&change)
                } else {
                    try changingSeal(to: change.key?.seal) { () throws(KeyringError) in try write(&change) }
                }
                return answer
            }
            if let answer { return answer }
        }
    }

    /// Writes the log first. It may list a change that wasn't made, but never lacks one that was.
    private func write(_ change: inout KeyringChange) throws(KeyringError) {
        do throws(DurableFiles.Failure) {
            try AuditLog.append(change.notes, to: files.log, after: &change.contents.log)
        } catch { throw .system(files.log, error) }
        var bytes = KeyringFile.bytes(of: change.contents, under: change.key)
        defer { wipe(&bytes) }
        try files.write(bytes)
        if let key = change.key { remember(key) }
    }

    /// Reseals the whole keyring with a passphrase or a key, or, with nil, unseals it. It's a single change: a kill at any
    /// moment leaves the old state or the new.
    ///
    /// The secrets get a new key, so the old passphrase can't open the new file. It still opens old copies and backups. The
    /// audit log is accepted as it is, so check it first.
    public func seal(with secret: KeyringSecret?, at now: Timestamp = .now()) throws(KeyringError) {
        let key: KeyringSealKey? = if let secret { try KeyringSealKey(new: secret) } else { nil }
        try change(at: now) { (change) throws(KeyringError) in
            change.key = key
            // Accepts all of the log's lines again.
            change.contents.log = .start
            change.note(.sealed)
        }
    }
}

extension Keyring {
    /// Generates a device's key. The name can't be used for another key afterward.
    ///
    /// - Parameters:
    ///   - name: The device's name.
    ///   - topic: The app's topic. With one, the device also gets an enrollment key, and its first signed record.
    ///   - policy: The algorithm of this key and of those that replace it.
    ///   - now: The current time.
    /// - Throws: `unsupported` for a hybrid key, if this build has no library with ML-KEM-768.
    @discardableResult
    public func generateDevice(
        named name: KeyName, topic: Topic? = nil, policy: KeyPolicy = .classical, at now: Timestamp = .now()
    ) throws(KeyringError) -> DevicePublicKey {
        guard policy.algorithm.isAvailable else { throw .unsupported }
        return try generate(PrivateKey(policy.algorithm), named: name, topic: topic, at: now)
    }

    /// Generates a sender's key.
    @discardableResult
    public func generateSender(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> SenderPublicKey
    {
        try generate(PrivateKey(), named: name, at: now)
    }

    /// Generates an authority's key, which signs sender sets. Keep its keyring offline.
    @discardableResult
    public func generateAuthority(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError)
        -> AuthorityPublicKey
    {
        try generate(PrivateKey(), named: name, at: now)
    }

    private func generate<Role: NamedRole>(
        _ key: PrivateKey<Role>, named name: KeyName, topic: Topic? = nil, at now: Timestamp
    ) throws(KeyringError) -> PublicKey<Role> {
        try change(at: now) { (change) throws(KeyringError) in
            try change.add(NamedKey(key, at: now), as: name, .generated, topic: topic)
        }
        return key.publicKey
    }

    /// Adds another owner's public key. A device's key that is added this way is unverified.
    public func add(_ key: AnyPublicKey, named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) {
        let life = KeyLife(created: now, confirmed: key.kind == .device ? nil : now)
        try change(at: now) { (change) throws(KeyringError) in
            try change.add(NamedKey(key: key, life: life), as: name, .imported)
        }
    }

    /// Adds a secret key that was made elsewhere: `PUSH-SECRET-KEY-1…`, `PUSH-PQ-SECRET-KEY-1…`,
    /// `PUSH-SENDER-SECRET-KEY-1…`, or `PUSH-AUTHORITY-SECRET-KEY-1…`, as ASCII bytes that the caller wipes.
    ///
    /// - Returns: The public key, or nil without adding anything if the text isn't such a key.
    public func add(
        secretText text: [UInt8], named name: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> AnyPublicKey? {
        guard let stored = NamedKey.imported(text, at: now) else { return nil }
        try change(at: now) { (change) throws(KeyringError) in try change.add(stored, as: name, .imported) }
        return stored.key
    }

    /// Adds another owner's device by its signed record, or accepts a newer record of a device that is already here.
    ///
    /// A new name **pins** the record's enrollment key. Add one only within the app's own login, or after comparing
    /// fingerprints. For a known name, the record must be signed by the pinned key, and not be older than the stored one. The
    /// device's keys can be used only after it has answered a challenge for them; see ``challenge(_:from:at:)``.
    ///
    /// - Throws: `enrolled` if the record's device has another name here. Records are public, so this keeps an attacker from
    ///   enrolling another person's device under their own name.
    public func add(_ record: DeviceRecord, named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) {
        try change(at: now) { (change) throws(KeyringError) in
            var keys = change.contents.names[name] ?? NamedKeys(name, kind: .device, created: now)
            if keys.keys.isEmpty {
                try change.requireUnpinned(record.enrollment)
                do throws(RecordError) {
                    try record.check(pinned: record.enrollment, topic: record.topic, replacing: nil, at: now)
                } catch { throw .record(error) }
            } else {
                try keys.requireNewer(record, at: now)
            }
            keys.take(record, at: now)
            change.save(keys)
            change.note(.imported, name, keys.keys.first?.key)
        }
    }
}

extension KeyringChange {
    /// Throws if another device has this enrollment key.
    fileprivate func requireUnpinned(_ enrollment: EnrollmentPublicKey) throws(KeyringError) {
        let text = enrollment.description
        if let name = contents.names.first(where: { $0.value.enrollmentText == text && !$0.value.isOwn })?.key {
            throw .enrolled(name)
        }
    }
}

extension NamedKeys {
    fileprivate mutating func enroll(for topic: Topic, at now: Timestamp) throws(KeyringError) {
        let key = EnrollmentPrivateKey()
        self.topic = topic
        enrollment = key.enrollment
        enrollmentSecret = StoredSecret(key)
        try signRecord(at: now)
    }

    /// Signs a record of the active keys, newest first, or removes the record if there are none. A no-op if not enrolled.
    mutating func signRecord(at now: Timestamp) throws(KeyringError) {
        guard let key = enrollmentSecret?.key(EnrollmentRole.self), let topic else { return }
        let rotation = KeyRotation(keys.compactMap { stored in stored.key.device.map { ($0, stored.life) } })
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

    /// Throws unless the record can replace the stored one.
    fileprivate func requireNewer(_ record: DeviceRecord, at now: Timestamp) throws(KeyringError) {
        guard kind == .device, !isOwn else { throw .exists(name) }
        guard var device = enrolledDevice else { throw .unverified(name) }
        // A thief of the device's key may have the enrollment key, too.
        guard keys.contains(where: { $0.life.state != .revoked }) else { throw .notUsable(name, .revoked) }
        do { try device.accept(record, at: now) } catch { throw .record(error) }
    }

    /// Removes keys that the record no longer contains; the other keys' lives don't change. A revoked key is kept
    /// permanently, so that no later record can bring it back.
    fileprivate mutating func take(_ record: DeviceRecord, at now: Timestamp) {
        enrollment = record.enrollment
        topic = record.topic
        self.record = record
        if let challenge, !record.recipients.contains(challenge.recipient) { self.challenge = nil }
        let known = keys
        keys = record.recipients.map { recipient in
            known.first { $0.key == .device(recipient) }
                ?? NamedKey(key: .device(recipient), life: KeyLife(created: now))
        }
        keys += known.filter { key in key.life.state == .revoked && !keys.contains { $0.key == key.key } }
    }
}
