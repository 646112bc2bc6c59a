public import PushSender
public import SealedPush

extension Keyring {
    /// Makes a new key under the name. The one in use stays in use until the new one is confirmed (``confirm(_:at:)``).
    ///
    /// A device that is enrolled signs a new record, with both. A key that takes nobody's place is confirmed at once.
    ///
    /// - Throws: `unconfirmed` while an earlier new key waits; `wrongKind` for an authority, whose key apps have built in.
    @discardableResult
    public func rotate(_ name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> AnyPublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.ownKeys(name)
            let key = try file.rotate(named: name, at: now)
            change.save(file, as: name)
            change.note(.rotated, name, key)
            return key
        }
    }

    /// Notes that a new key is in use at both ends: a device's, since a message has opened under it; a sender's, since
    /// devices are known to trust it. The older ones retire, and a device signs a record of the new key alone.
    @discardableResult
    public func confirm(_ name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> AnyPublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.ownKeys(name)
            guard let waiting = file.rotation.unconfirmed?.key else { throw .nothingToConfirm(name) }
            file.rotation.confirm(waiting, at: now)
            change.note(.confirmed, name, waiting)
            for older in file.rotation.retireReplaced() { change.note(.retired, name, older) }
            try file.signRecord(at: now)
            change.save(file, as: name)
            return waiting
        }
    }

    /// Declares keys stolen: from now on they neither open nor are sealed to or with. Can't be undone.
    ///
    /// - Parameter id: which key; nil for all keys under the name, those that wait and retired ones too, as a thief has
    ///   them all. Somebody else's device then takes no further record, since the thief may sign one: erase the name and
    ///   let the device enroll anew.
    /// - Throws: `notUsable` where everything is revoked or erased already.
    @discardableResult
    public func revoke(
        _ name: KeyName, key id: KeyID? = nil, at now: Timestamp = .now()
    ) throws(KeyringError) -> [AnyPublicKey] {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.keys(name)
            var indices = file.keys.indices.filter { file.keys[$0].life.opens }
            if let id { indices = [try file.index(of: id, named: name, from: [.active, .retired])] }
            guard !indices.isEmpty else { throw .notUsable(name, file.keys[0].life.state) }
            for index in indices {
                file.keys[index].life.revoke(at: now)
                change.note(.revoked, name, file.keys[index].key)
            }
            try file.signRecord(at: now)
            change.save(file, as: name)
            return indices.map { file.keys[$0].key }
        }
    }

    /// Destroys a key's secret; what was sealed to it never opens again. Can't be undone. Somebody else's key is removed.
    @discardableResult
    public func erase(
        _ name: KeyName, key id: KeyID? = nil, at now: Timestamp = .now()
    ) throws(KeyringError) -> AnyPublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.keys(name)
            let index = try file.index(of: id, named: name, from: [.active, .retired, .revoked])
            let key = file.keys[index].key
            guard file.isOwn else {
                change.contents.names[name] = nil
                change.note(.removed, name, key)
                return key
            }
            file.keys[index].life.erase(at: now)
            file.keys[index].secret = nil
            try file.signRecord(at: now)
            change.save(file, as: name)
            change.note(.erased, name, key)
            return key
        }
    }
}

extension NamedKeys {
    /// Puts a new key before the others.
    mutating func rotate(named name: KeyName, at now: Timestamp) throws(KeyringError) -> AnyPublicKey {
        var stored: StoredKey
        switch kind {
        case .device: stored = StoredKey(DevicePrivateKey(), at: now)
        case .sender: stored = StoredKey(SenderPrivateKey(), at: now)
        case .authority: throw .wrongKind(name, expected: .device)
        }
        var rotation = rotation
        guard let life = rotation.add(stored.key, at: now) else { throw .unconfirmed(name) }
        stored.life = life
        keys.insert(stored, at: 0)
        try signRecord(at: now)
        return stored.key
    }

    /// The key that is meant: the one with this ID, or the newest in one of these states.
    fileprivate func index(
        of id: KeyID?, named name: KeyName, from states: [KeyLife.State]
    ) throws(KeyringError) -> Int {
        if let id {
            guard let index = keys.firstIndex(where: { $0.key.keyID == id }) else { throw .notFound(name) }
            guard states.contains(keys[index].life.state) else { throw .notUsable(name, keys[index].life.state) }
            return index
        }
        // The one in use, rather than one that waits to take its place.
        let inUse = keys.firstIndex { $0.life.state == .active && $0.life.confirmed != nil }
        if states.contains(.active), let inUse { return inUse }
        guard let index = keys.firstIndex(where: { states.contains($0.life.state) }) else {
            throw .notUsable(name, keys[0].life.state)
        }
        return index
    }
}

extension Keyring {
    /// Asks somebody else's device to prove that it holds its newest key: the text to send it, which counts for ten
    /// minutes. A second challenge takes the first one's place.
    ///
    /// - Parameter sender: a sender of one's own, which the device trusts.
    public func challenge(
        _ name: KeyName, from sender: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> PendingChallenge {
        let senderKey = try senderKey(named: sender)
        return try change(at: now) { (change) throws(KeyringError) in
            var file = try change.keys(name)
            guard file.kind == .device, !file.isOwn else { throw .wrongKind(name, expected: .device) }
            guard let enrollment = file.enrollment, let topic = file.topic else { throw .unverified(name) }
            guard case .device(let recipient)? = file.rotation.unconfirmed?.key else { throw .nothingToConfirm(name) }
            let challenge = PendingChallenge(to: recipient, of: enrollment, topic: topic, from: senderKey, at: now)
            file.challenge = challenge
            change.save(file, as: name)
            change.note(.challenged, name, .device(recipient))
            return challenge
        }
    }

    /// Takes a device's answer; from here on its key is sealed to.
    public func acceptAnswer(
        _ answer: String, of name: KeyName, at now: Timestamp = .now()
    ) throws(KeyringError) -> DevicePublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.keys(name)
            guard var device = file.enrolledDevice else { throw .unverified(name) }
            guard let challenge = file.challenge,
                let index = file.keys.firstIndex(where: { $0.recipient == challenge.recipient })
            else { throw .nothingToConfirm(name) }
            guard file.keys[index].life.state == .active else {
                throw .notUsable(name, file.keys[index].life.state)
            }
            do throws(ChallengeError) {
                try device.prove(challenge, answer: answer, at: now)
            } catch { throw .challenge(error) }
            file.keys[index].life.confirm(at: now)
            file.challenge = nil
            change.save(file, as: name)
            change.note(.answered, name, file.keys[index].key)
            return challenge.recipient
        }
    }

    /// A device's own side: the answer to a server's challenge, if one of the trusted senders asks this very device.
    public func answer(
        _ challenge: String, for name: KeyName, trusting senders: [SenderPublicKey]
    ) throws(KeyringError) -> String {
        let file = try keys(of: name)
        guard file.isOwn else { throw .noSecret(name) }
        guard let enrollment = file.enrollment, let topic = file.topic else { throw .unverified(name) }
        do {
            return try Challenge.answer(
                challenge, enrollment: enrollment, topic: topic, keys: KeyringStore(self, device: name),
                trusting: senders)
        } catch { throw .challenge(error) }
    }
}
