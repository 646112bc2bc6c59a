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
            var keys = try change.contents.keys(of: name, isOwn: true)
            let key = try keys.rotate(at: now)
            change.save(keys)
            change.note(.rotated, name, key)
            return key
        }
    }

    /// Notes that a new key is in use at both ends: a device's, since a message has opened under it; a sender's, since
    /// devices are known to trust it. The older ones retire, and a device signs a record of the new key alone.
    @discardableResult
    public func confirm(_ name: KeyName, at now: Timestamp = .now()) throws(KeyringError) -> AnyPublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            var keys = try change.contents.keys(of: name, isOwn: true)
            guard let waiting = keys.rotation.unconfirmed?.key else { throw .nothingToConfirm(name) }
            keys.rotation.confirm(waiting, at: now)
            change.note(.confirmed, name, waiting)
            for older in keys.rotation.retireReplaced() { change.note(.retired, name, older) }
            try keys.signRecord(at: now)
            change.save(keys)
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
            var keys = try change.contents.keys(of: name)
            var indices = keys.keys.indices.filter { keys.keys[$0].life.opens }
            if let id { indices = [try keys.index(of: id, from: [.active, .retired])] }
            guard !indices.isEmpty else { throw keys.notUsable }
            for index in indices {
                keys.keys[index].life.revoke(at: now)
                change.note(.revoked, name, keys.keys[index].key)
            }
            try keys.signRecord(at: now)
            change.save(keys)
            return indices.map { keys.keys[$0].key }
        }
    }

    /// Destroys a key's secret; what was sealed to it never opens again. Can't be undone. Somebody else's key is removed.
    @discardableResult
    public func erase(
        _ name: KeyName, key id: KeyID? = nil, at now: Timestamp = .now()
    ) throws(KeyringError) -> AnyPublicKey {
        try change(at: now) { (change) throws(KeyringError) in
            var keys = try change.contents.keys(of: name)
            let index = try keys.index(of: id, from: [.active, .retired, .revoked])
            let key = keys.keys[index].key
            guard keys.isOwn else {
                change.contents.names[name] = nil
                change.note(.removed, name, key)
                return key
            }
            keys.keys[index].erase(at: now)
            try keys.signRecord(at: now)
            change.save(keys)
            change.note(.erased, name, key)
            return key
        }
    }
}

extension NamedKeys {
    fileprivate mutating func rotate(at now: Timestamp) throws(KeyringError) -> AnyPublicKey {
        var stored: StoredKey
        switch kind {
        case .device:
            stored = StoredKey(keys.first?.key.device.map { DevicePrivateKey($0.algorithm) } ?? PrivateKey(), at: now)
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
    fileprivate func index(of id: KeyID?, from states: [KeyLife.State]) throws(KeyringError) -> Int {
        if let id {
            guard let index = keys.firstIndex(where: { $0.key.keyID == id }) else { throw .notFound(name) }
            guard states.contains(keys[index].life.state) else { throw .notUsable(name, keys[index].life.state) }
            return index
        }
        // The one in use, rather than one that waits to take its place.
        let inUse = keys.firstIndex { $0.life.state == .active && $0.life.confirmed != nil }
        guard let index = inUse ?? keys.firstIndex(where: { states.contains($0.life.state) }) else { throw notUsable }
        return index
    }
}

/// One thing that a keyring's keys are due for, by the times of Specification 13.
public struct RotationStep: Hashable, Sendable {
    public let name: KeyName
    public let key: AnyPublicKey
    public let act: Act

    public enum Act: String, Sendable {
        /// The key is old: a new one is made beside it.
        case rotate
        /// The key was retired 31 days ago: its secret is destroyed.
        case erase
        /// The device's record runs out within 60 days: a new one is signed.
        case renew
    }
}

extension Keyring {
    /// What is due; changes nothing and needs no secret.
    ///
    /// - Parameters:
    ///   - name: one name; nil for all.
    ///   - age: keys that are older are rotated, in seconds; nil for none.
    public func dueSteps(
        of name: KeyName? = nil, rotatingOlderThan age: Int64?, at now: Timestamp = .now()
    ) throws(KeyringError) -> [RotationStep] {
        try read(.atHand).contents.dueSteps(of: name, rotatingOlderThan: age, at: now)
    }

    /// Does what is due, all in one change; does nothing where nothing is.
    public func performDueSteps(
        of name: KeyName? = nil, rotatingOlderThan age: Int64?, at now: Timestamp = .now()
    ) throws(KeyringError) -> [RotationStep] {
        try change(at: now) { (change) throws(KeyringError) in
            let steps = try change.contents.dueSteps(of: name, rotatingOlderThan: age, at: now)
            for step in steps {
                var keys = try change.contents.keys(of: step.name, isOwn: true)
                switch step.act {
                case .rotate: change.note(.rotated, step.name, try keys.rotate(at: now))
                case .erase:
                    for index in keys.keys.indices where keys.keys[index].key == step.key {
                        keys.keys[index].erase(at: now)
                    }
                    change.note(.erased, step.name, step.key)
                case .renew:
                    try keys.signRecord(at: now)
                    change.note(.signed, step.name, step.key)
                }
                change.save(keys)
            }
            return steps
        }
    }
}

extension KeyringContents {
    fileprivate func dueSteps(
        of name: KeyName?, rotatingOlderThan age: Int64?, at now: Timestamp
    ) throws(KeyringError) -> [RotationStep] {
        let chosen = if let name { [try keys(of: name)] } else { sorted }
        return chosen.flatMap { $0.dueSteps(rotatingOlderThan: age, at: now) }
    }
}

extension NamedKeys {
    fileprivate func dueSteps(rotatingOlderThan age: Int64?, at now: Timestamp) -> [RotationStep] {
        guard isOwn, kind != .authority else { return [] }
        var steps: [RotationStep] = []
        if rotation.isRotationDue(olderThan: age, at: now), let newest {
            steps.append(RotationStep(name: name, key: newest.key, act: .rotate))
        } else if let record, let newest, record.isRenewalDue(at: now) {
            steps.append(RotationStep(name: name, key: newest.key, act: .renew))
        }
        // A revoked key's secret goes when a person says so.
        let retired = keys.filter { $0.life.erasureDue().map { now >= $0 } ?? false }
        return steps + retired.map { RotationStep(name: name, key: $0.key, act: .erase) }
    }
}
