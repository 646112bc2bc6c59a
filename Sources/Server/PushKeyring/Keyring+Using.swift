internal import PushCore
public import PushSender
public import SealedPush

extension Keyring {
    /// Whom to seal to: a device of one's own, or one whose signed record verifies against its pinned enrollment key and
    /// which has proven that it holds the key.
    public func recipient(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> VerifiedRecipient {
        let file = try device(name)
        if file.isOwn {
            guard let recipient = file.newest?.recipient else { throw .notUsable(name, file.keys[0].life.state) }
            return VerifiedRecipient(recipient)
        }
        guard let enrolled = file.enrolledDevice else { throw .unverified(name) }
        guard file.newest != nil else { throw .notUsable(name, file.keys[0].life.state) }
        do throws(RecordError) { return try enrolled.recipient(at: now) } catch { throw .record(error) }
    }

    /// A device as a server keeps it with its account: pinned key, newest record, and what is proven. For an outbox's registry.
    ///
    /// - Throws: `unverified` where there is no record: nobody vouches for the key, or it is one's own without a topic.
    public func enrolledDevice(named name: KeyName) throws(KeyringError) -> EnrolledDevice {
        guard let enrolled = try device(name).enrolledDevice else { throw .unverified(name) }
        return enrolled
    }

    /// A device's newest public key, whether anybody vouches for it or not.
    public func unverifiedRecipient(named name: KeyName) throws(KeyringError) -> DevicePublicKey {
        let file = try device(name)
        guard let recipient = file.newest?.recipient else { throw .notUsable(name, file.keys[0].life.state) }
        return recipient
    }

    /// A sender's public key: the one that seals now.
    public func sender(named name: KeyName) throws(KeyringError) -> SenderPublicKey {
        let file = try keys(of: name)
        guard file.kind == .sender else { throw .wrongKind(name, expected: .sender) }
        guard let sender = (file.newestConfirmed ?? file.newest)?.sender else {
            throw .notUsable(name, file.keys[0].life.state)
        }
        return sender
    }

    /// A sender's secret key: the newest that devices are known to trust.
    public func senderKey(named name: KeyName) throws(KeyringError) -> SenderPrivateKey {
        let file = try keys(of: name)
        guard file.kind == .sender else { throw .wrongKind(name, expected: .sender) }
        guard file.isOwn else { throw .noSecret(name) }
        guard let senderKey = file.newestConfirmed?.senderKey else { throw .notUsable(name, file.keys[0].life.state) }
        return senderKey
    }

    /// A sender's secret keys that seal, are about to, or did until not long ago: for what comes back to messages of theirs.
    /// None that was revoked.
    ///
    /// - Parameter span: for how many seconds a key counts after its retirement.
    public func senderKeys(
        named name: KeyName, retiredWithin span: Int64, at now: Timestamp = .now()
    ) throws(KeyringError) -> [SenderPrivateKey] {
        let file = try keys(of: name)
        guard file.kind == .sender else { throw .wrongKind(name, expected: .sender) }
        guard file.isOwn else { throw .noSecret(name) }
        let recent = file.keys.filter { stored in
            switch stored.life.state {
            case .active: true
            case .retired: stored.life.retired.map { now.seconds(since: $0) <= span } ?? false
            case .revoked, .erased: false
            }
        }
        let keys = recent.compactMap(\.senderKey)
        guard !keys.isEmpty else { throw .notUsable(name, file.keys[0].life.state) }
        return keys
    }

    /// A device's own keys that open something: active and retired ones, newest first.
    public func deviceKeys(named name: KeyName) throws(KeyringError) -> [DeviceKey] {
        let file = try device(name)
        guard file.isOwn else { throw .noSecret(name) }
        return file.keys.filter(\.life.opens).compactMap { stored in
            stored.identity.map { DeviceKey($0, life: stored.life) }
        }
    }

    /// A device's own enrollment key with the newest record; nil where it is not enrolled, or has no key in use.
    package func enrollment(
        named name: KeyName
    ) throws(KeyringError) -> (key: EnrollmentPrivateKey, record: DeviceRecord)? {
        let file = try device(name)
        guard let record = file.record, case .open(let secret)? = file.enrollmentSecret else { return nil }
        return secret.enrollmentKey.map { ($0, record) }
    }

    /// Lends a secret key's text to `body`; it is wiped afterwards. Noted in the audit log before.
    ///
    /// - Parameter id: which key, where the name has several; else the newest whose secret is here.
    public func withSecretText<Answer>(
        of name: KeyName, key id: KeyID? = nil, at now: Timestamp = .now(), _ body: (UnsafeRawBufferPointer) -> Answer
    ) throws(KeyringError) -> Answer {
        let secret = try change(at: now) { (change) throws(KeyringError) in
            let file = try change.ownKeys(name)
            let found = file.keys.first { $0.secretText != nil && (id == nil || $0.key.keyID == id) }
            guard let found, let secret = found.secretText else { throw .noSecret(name) }
            change.note(.exportedSecret, name, found.key)
            return secret
        }
        return secret.withBytes(body)
    }

    private func device(_ name: KeyName) throws(KeyringError) -> NamedKeys {
        let file = try keys(of: name)
        guard file.kind == .device else { throw .wrongKind(name, expected: .device) }
        return file
    }
}

extension NamedKeys {
    /// A device with a record; nil where nobody vouches for it.
    var enrolledDevice: EnrolledDevice? {
        guard let enrollment, let record else { return nil }
        let proven = keys.filter { $0.life.state == .active && $0.life.confirmed != nil }.compactMap(\.recipient)
        return try? EnrolledDevice(loading: enrollment, record: record, proven: proven)
    }
}

extension StoredKey {
    /// The secret key; nil if it does not belong to the public one, which a keyring in the clear can't rule out.
    fileprivate var senderKey: SenderPrivateKey? {
        secretText?.senderKey.flatMap { key == .sender($0.sender) ? $0 : nil }
    }

    /// Likewise.
    fileprivate var identity: DevicePrivateKey? {
        secretText?.identity.flatMap { key == .device($0.recipient) ? $0 : nil }
    }
}
