internal import PushSender
public import SealedPush

extension Keyring {
    /// Adds the public key of somebody else. Nobody vouches for a device's key that is added this way.
    public func add(_ key: AnyPublicKey, named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) {
        try change(at: now) { (change) throws(KeyringError) in
            try change.requireFree(name)
            let life = KeyLife(created: now, confirmed: key.kind == .device ? nil : now)
            change.save(NamedKeys(kind: key.kind, created: now, keys: [StoredKey(key: key, life: life)]), as: name)
            change.note(.imported, name, key)
        }
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
            var file: NamedKeys
            do throws(KeyringError) {
                file = try change.keys(name)
                try file.accept(record, named: name, at: now)
            } catch {
                guard error == .notFound(name) else { throw error }
                try change.requireUnpinned(record.enrollment)
                file = NamedKeys(kind: .device, created: now, keys: [])
                do throws(RecordError) {
                    try record.check(pinned: record.enrollment, topic: record.topic, replacing: nil, at: now)
                } catch { throw .record(error) }
                file.take(record, at: now)
            }
            change.save(file, as: name)
            change.note(.imported, name, file.keys.first?.key)
        }
    }

    /// Adds a secret key that was made elsewhere: `PUSH-SECRET-KEY-1…`, `PUSH-SENDER-SECRET-KEY-1…` or
    /// `PUSH-AUTHORITY-SECRET-KEY-1…`, as ASCII bytes that the caller wipes.
    public func add(
        secretText text: [UInt8], named name: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> AnyPublicKey? {
        try change(at: now) { (change) throws(KeyringError) in
            try change.requireFree(name)
            guard let stored = StoredKey(secretText: text, at: now) else { return nil }
            change.save(NamedKeys(kind: stored.key.kind, created: now, keys: [stored]), as: name)
            change.note(.imported, name, stored.key)
            return stored.key
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

extension StoredKey {
    /// Nil where the text is no secret key of a kind that has a name.
    fileprivate init?(secretText text: [UInt8], at now: Timestamp) {
        if let identity = try? DevicePrivateKey(parsing: text) {
            self.init(identity, at: now)
        } else if let key = try? SenderPrivateKey(parsing: text) {
            self.init(key, at: now)
        } else if let key = try? AuthorityPrivateKey(parsing: text) {
            self.init(key, at: now)
        } else {
            return nil
        }
    }
}

extension NamedKeys {
    /// A newer record of a device that is here already.
    fileprivate mutating func accept(
        _ record: DeviceRecord, named name: KeyName, at now: Timestamp
    ) throws(KeyringError) {
        guard kind == .device, !isOwn else { throw .exists(name) }
        guard var device = enrolledDevice else { throw .unverified(name) }
        // Stolen: its thief may have the enrollment key too.
        guard keys.contains(where: { $0.life.state != .revoked }) else { throw .notUsable(name, .revoked) }
        do { try device.accept(record, at: now) } catch { throw .record(error) }
        take(record, at: now)
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
            known.first { $0.recipient == recipient } ?? StoredKey(key: .device(recipient), life: KeyLife(created: now))
        }
        keys += known.filter { key in key.life.state == .revoked && !keys.contains { $0.key == key.key } }
    }
}
