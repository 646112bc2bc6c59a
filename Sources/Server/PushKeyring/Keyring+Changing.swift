internal import PushCore
internal import PushSender
public import SealedPush

struct KeyringChange {
    var contents: KeyringContents
    /// Nil if the keyring is not sealed.
    var key: SealKey?
    let now: Timestamp
    let command: String
    fileprivate(set) var notes: [AuditEntry] = []

    /// Puts a first key under a name, which must be free. With a topic, its device is enrolled too.
    mutating func add(
        _ stored: StoredKey, as name: KeyName, _ event: AuditEntry.Event, topic: Topic? = nil
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
    /// Runs `body`, and makes what it saves last, all of it or nothing. A change that notes nothing is not written.
    func change<Answer>(
        at now: Timestamp, _ body: (inout KeyringChange) throws(KeyringError) -> Answer
    ) throws(KeyringError) -> Answer {
        while true {
            // Before the lock is taken: a person may take a while to answer, and a passphrase takes its time.
            let before = try read(.full)
            var first: SealKey?
            if !before.exists, let givenSecret { first = try SealKey(new: givenSecret) }
            let answer = try files.locked { () throws(KeyringError) -> Answer? in
                let reading = try read(.known(before.key))
                // Between the two, another process may have sealed the keyring anew, or made one.
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

    /// The log first: it may tell of a change that was not made, and never lacks one that was.
    private func write(_ change: inout KeyringChange) throws(KeyringError) {
        do throws(DurableFiles.Failure) {
            try AuditLog.append(change.notes, to: files.log, after: &change.contents.log)
        } catch { throw .system(files.log, error) }
        var bytes = KeyringFile.bytes(of: change.contents, under: change.key)
        defer { wipe(&bytes) }
        try files.write(bytes)
        if let key = change.key { remember(key) }
    }

    /// Seals the whole keyring anew: under a passphrase, a key, or, with nil, not at all. One change: a process that is
    /// killed leaves it as it was, or as it is to be.
    ///
    /// The secrets get a fresh key, so the old passphrase opens nothing of the new file. Old copies and backups still
    /// open with it. The audit log is taken as it stands: look at it first.
    public func seal(with secret: KeyringSecret?, at now: Timestamp = .now()) throws(KeyringError) {
        let key: SealKey? = if let secret { try SealKey(new: secret) } else { nil }
        try change(at: now) { (change) throws(KeyringError) in
            change.key = key
            // All its lines are taken in again.
            change.contents.log = .start
            change.note(.sealed)
        }
    }
}

extension Keyring {
    /// Makes a device's key. Its name is free afterwards for no other key.
    ///
    /// - Parameters:
    ///   - topic: the app's; with one the device gets an enrollment key too, and its first signed record.
    ///   - policy: what the key is; so are those that take its place.
    @discardableResult
    public func generateDevice(
        named name: KeyName, topic: Topic? = nil, policy: KeyPolicy = .classical, at now: Timestamp = .now()
    ) throws(KeyringError) -> DevicePublicKey {
        try generate(PrivateKey(policy.algorithm), named: name, topic: topic, at: now)
    }

    /// Makes a sender's key.
    @discardableResult
    public func generateSender(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> SenderPublicKey
    {
        try generate(PrivateKey(), named: name, at: now)
    }

    /// Makes an authority's key, which signs sender sets. Keep its keyring offline.
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
            try change.add(StoredKey(key, at: now), as: name, .generated, topic: topic)
        }
        return key.publicKey
    }

    /// Adds the public key of somebody else. Nobody vouches for a device's key that is added this way.
    public func add(_ key: AnyPublicKey, named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) {
        let life = KeyLife(created: now, confirmed: key.kind == .device ? nil : now)
        try change(at: now) { (change) throws(KeyringError) in
            try change.add(StoredKey(key: key, life: life), as: name, .imported)
        }
    }

    /// Adds a secret key that was made elsewhere: `PUSH-SECRET-KEY-1…`, `PUSH-SENDER-SECRET-KEY-1…` or
    /// `PUSH-AUTHORITY-SECRET-KEY-1…`, as ASCII bytes that the caller wipes.
    ///
    /// - Returns: the public key; nil, and nothing was added, if the text is not such a key.
    public func add(
        secretText text: [UInt8], named name: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> AnyPublicKey? {
        guard let stored = StoredKey.imported(text, at: now) else { return nil }
        try change(at: now) { (change) throws(KeyringError) in try change.add(stored, as: name, .imported) }
        return stored.key
    }

    /// Adds somebody else's device by its signed record, or takes a newer record of a device that is here.
    ///
    /// A new name **pins** the record's enrollment key: only inside the app's own login, or after comparing fingerprints.
    /// For a known name the record must be signed by the pinned key, and not be older than the one that is here.
    /// The device's keys count only once it has answered a challenge for them: ``challenge(_:from:at:)``.
    ///
    /// - Throws: `enrolled` where the record's device has another name here: a record is public, and whoever hands in another
    ///   person's must not have their device under a name of his own.
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
    /// Throws if another's device has this enrollment key.
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

    /// Signs a record of the active keys, newest first; takes the record away where there is none. Does nothing for a
    /// device that is not enrolled.
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

    /// Throws unless the record may take the place of the one that is here.
    fileprivate func requireNewer(_ record: DeviceRecord, at now: Timestamp) throws(KeyringError) {
        guard kind == .device, !isOwn else { throw .exists(name) }
        guard var device = enrolledDevice else { throw .unverified(name) }
        // Stolen: its thief may have the enrollment key too.
        guard keys.contains(where: { $0.life.state != .revoked }) else { throw .notUsable(name, .revoked) }
        do { try device.accept(record, at: now) } catch { throw .record(error) }
    }

    /// Keys that are in the record no more go; those that stay keep their life. A revoked one is remembered for good,
    /// so that no later record brings it back.
    fileprivate mutating func take(_ record: DeviceRecord, at now: Timestamp) {
        enrollment = record.enrollment
        topic = record.topic
        self.record = record
        if let challenge, !record.recipients.contains(challenge.recipient) { self.challenge = nil }
        let known = keys
        keys = record.recipients.map { recipient in
            known.first { $0.key == .device(recipient) }
                ?? StoredKey(key: .device(recipient), life: KeyLife(created: now))
        }
        keys += known.filter { key in key.life.state == .revoked && !keys.contains { $0.key == key.key } }
    }
}

/// Overwrites an array that held a secret; for modules that do not import PushCore.
package func wipeSecret(_ bytes: inout [UInt8]) { wipe(&bytes) }
