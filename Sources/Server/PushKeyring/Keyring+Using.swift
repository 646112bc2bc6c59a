public import PushSender
public import SealedPush

extension Keyring {
    /// Returns the recipient to seal to: your own device, or another device whose record verifies against its pinned
    /// enrollment key and that has proven that it holds the key.
    public func recipient(named name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> VerifiedRecipient {
        let keys = try keys(of: name, .device)
        guard keys.isOwn else {
            guard let enrolled = keys.enrolledDevice else { throw .unverified(name) }
            guard keys.newest != nil else { throw keys.notUsable }
            do throws(RecordError) { return try enrolled.recipient(at: now) } catch { throw .record(error) }
        }
        guard let recipient = keys.newest?.key.device else { throw keys.notUsable }
        return VerifiedRecipient(recipient, keeps: keys.enrolledDevice?.record.keeps)
    }

    /// Returns a device as a server stores it: pinned key, newest record, and proven keys. For an outbox's registry.
    ///
    /// - Throws: `unverified` if there's no record, because the key is unverified or your own device has no topic.
    public func enrolledDevice(named name: KeyName) throws(KeyringError) -> EnrolledDevice {
        guard let enrolled = try keys(of: name, .device).enrolledDevice else { throw .unverified(name) }
        return enrolled
    }

    /// Returns a device's newest public key, whether it's verified or not.
    public func unverifiedRecipient(named name: KeyName) throws(KeyringError) -> DevicePublicKey {
        let keys = try keys(of: name, .device)
        guard let recipient = keys.newest?.key.device else { throw keys.notUsable }
        return recipient
    }

    /// Returns the public key that a sender seals with now; if none is confirmed, the one that it will seal with.
    public func sender(named name: KeyName) throws(KeyringError) -> SenderPublicKey {
        let keys = try keys(of: name, .sender)
        guard let sender = keys.current?.key.sender else { throw keys.notUsable }
        return sender
    }

    /// Returns the public keys that a sender seals with now or next, for a sender set.
    public func activeSenders(named name: KeyName) throws(KeyringError) -> [SenderPublicKey] {
        try keys(of: name, .sender).keys.filter { $0.life.state == .active }.compactMap(\.key.sender)
    }

    /// Returns a sender's secret key: the newest that devices trust.
    public func senderKey(named name: KeyName) throws(KeyringError) -> SenderPrivateKey {
        let keys = try keys(of: name, .sender, isOwn: true)
        guard let key = keys.newestConfirmed?.privateKey(SenderRole.self) else { throw keys.notUsable }
        return key
    }

    /// Returns a sender's secret keys, for responses to messages: active and recently retired ones, not revoked ones.
    ///
    /// - Parameters:
    ///   - name: The sender's name.
    ///   - span: How many seconds after its retirement a key is included.
    ///   - now: The current time.
    public func senderKeys(
        named name: KeyName, retiredWithin span: Int64, at now: Timestamp = .now()
    ) throws(KeyringError) -> [SenderPrivateKey] {
        let keys = try keys(of: name, .sender, isOwn: true)
        let recent = keys.keys.filter { stored in
            switch stored.life.state {
            case .active: true
            case .retired: stored.life.retired.map { now.seconds(since: $0) <= span } ?? false
            case .revoked, .erased: false
            }
        }
        let found = recent.compactMap { $0.privateKey(SenderRole.self) }
        guard !found.isEmpty else { throw keys.notUsable }
        return found
    }

    /// Returns a device's own keys that can open messages: active and retired ones, newest first.
    public func deviceKeys(named name: KeyName) throws(KeyringError) -> [DeviceKey] {
        try keys(of: name, .device, isOwn: true).deviceKeys
    }

    /// Returns a device's own enrollment key and newest record, or nil if it isn't enrolled or has no key in use.
    package func enrollment(
        named name: KeyName
    ) throws(KeyringError) -> (key: EnrollmentPrivateKey, record: DeviceRecord)? {
        let keys = try keys(of: name, .device)
        guard let record = keys.record else { return nil }
        return keys.enrollmentSecret?.key(EnrollmentRole.self).map { ($0, record) }
    }

    /// Passes a secret key's text to `body`, and wipes it afterward. The export is first recorded in the audit log.
    ///
    /// - Parameters:
    ///   - name: The key's name.
    ///   - id: The key, or nil for the newest whose secret is here.
    ///   - now: The current time.
    ///   - body: Uses the text, without its line's end. It may not keep the bytes.
    public func withSecretText<Answer>(
        of name: KeyName, key id: KeyID? = nil, at now: Timestamp = .now(), _ body: (UnsafeRawBufferPointer) -> Answer
    ) throws(KeyringError) -> Answer {
        let secret = try change(at: now) { (change) throws(KeyringError) in
            let keys = try change.contents.keys(of: name, isOwn: true).keys
            let found = keys.first { $0.secret != nil && (id == nil || $0.key.keyID == id) }
            guard let found, case .open(let secret)? = found.secret else { throw .noSecret(name) }
            change.note(.exportedSecret, name, found.key)
            return secret
        }
        return secret.withBytes(body)
    }

    /// Signs an app's sender set with an authority's key. The counter rises with each set.
    ///
    /// - Parameters:
    ///   - senders: 1 to 16 different senders, newest first. Devices then trust only these.
    ///   - topic: The app's topic.
    ///   - name: The authority's name.
    ///   - lifetime: How many seconds devices trust the set.
    ///   - now: The current time.
    public func signSenderSet(
        of senders: [SenderPublicKey], topic: Topic, by name: KeyName, lifetime: Int64, at now: Timestamp = .now()
    ) throws(KeyringError) -> SenderSet {
        try change(at: now) { (change) throws(KeyringError) in
            var keys = try change.contents.keys(of: name, .authority, isOwn: true)
            guard let stored = keys.newest, let key = stored.privateKey(AuthorityRole.self) else {
                throw keys.notUsable
            }
            let counter = RecordCounter.next(after: keys.counter, at: now)
            let set: SenderSet
            do throws(RecordError) {
                set = try SenderSet(
                    of: senders, topic: topic, counter: counter, created: now,
                    expires: now.advanced(bySeconds: lifetime), signedBy: key)
            } catch { throw .record(error) }
            keys.counter = counter
            change.save(keys)
            change.note(.signed, name, stored.key)
            return set
        }
    }
}

extension Keyring {
    /// Creates a challenge for another owner's device to prove that it holds its newest key. Send its text; it's valid for
    /// ten minutes. A second challenge replaces the first.
    ///
    /// - Parameters:
    ///   - name: The device's name.
    ///   - sender: One of your own senders, which the device trusts.
    ///   - now: The current time.
    public func challenge(
        _ name: KeyName, from sender: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> PendingChallenge {
        let senderKey = try senderKey(named: sender)
        return try change(at: now) { (change) throws(KeyringError) in
            var keys = try change.contents.keys(of: name, .device)
            guard !keys.isOwn else { throw .ownDevice(name) }
            guard let enrollment = keys.enrollment, let topic = keys.topic else { throw .unverified(name) }
            guard case .device(let recipient)? = keys.rotation.unconfirmed?.key else { throw .nothingToConfirm(name) }
            let challenge = PendingChallenge(to: recipient, of: enrollment, topic: topic, from: senderKey, at: now)
            keys.challenge = challenge
            change.save(keys)
            change.note(.challenged, name, .device(recipient))
            return challenge
        }
    }

    /// Accepts a device's answer. From then on, messages are sealed to its key.
    public func acceptAnswer(
        _ answer: String, of name: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> DevicePublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            var keys = try change.contents.keys(of: name)
            guard var device = keys.enrolledDevice else { throw .unverified(name) }
            guard let challenge = keys.challenge,
                let index = keys.keys.firstIndex(where: { $0.key == .device(challenge.recipient) })
            else { throw .nothingToConfirm(name) }
            guard keys.keys[index].life.state == .active else { throw .notUsable(name, keys.keys[index].life.state) }
            do throws(ChallengeError) {
                try device.prove(challenge, answer: answer, at: now)
            } catch { throw .challenge(error) }
            keys.keys[index].life.confirm(at: now)
            keys.challenge = nil
            change.save(keys)
            change.note(.answered, name, keys.keys[index].key)
            return challenge.recipient
        }
    }

    /// Returns a device's answer to a server's challenge, if it's for this device and from a trusted sender.
    public func answer(
        _ challenge: String, for name: KeyName, trusting senders: [SenderPublicKey]
    ) throws(KeyringError) -> String {
        let keys = try keys(of: name, isOwn: true)
        guard let enrollment = keys.enrollment, let topic = keys.topic else { throw .unverified(name) }
        do {
            return try Challenge.answer(
                challenge, enrollment: enrollment, topic: topic, keys: InMemoryKeyStore(keys.deviceKeys),
                trusting: senders)
        } catch { throw .challenge(error) }
    }
}
