public import SealedPush

extension Keyring {
    /// Creates a new key under a name. The current one stays in use until the new one is confirmed (``confirm(_:at:)``).
    ///
    /// An enrolled device signs a new record with both keys. A key that doesn't replace another is confirmed at once.
    ///
    /// - Throws: `unconfirmed` while an earlier new key is waiting, or `notRotatable` for an authority.
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

    /// Confirms that a new key is in use at both ends: a device has opened a message with it, or devices trust the new sender
    /// key. The older keys retire, and a device signs a record with only the new one.
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

    /// Declares keys stolen. They can no longer open messages, be sealed to, or seal. This can't be undone.
    ///
    /// - Parameters:
    ///   - name: The keys' name.
    ///   - id: The key, or nil for all keys under the name, even waiting and retired ones, because a thief has them all. For
    ///     another owner's device, no more records are accepted, because a thief may sign one: erase it and enroll again.
    ///   - now: The current time.
    /// - Throws: `notUsable` if every key is already revoked or erased.
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

    /// Destroys a key's secret. Messages sealed to it can never be opened again. The keyring has no secret of another owner:
    /// such a name is removed with all its keys, even revoked ones, and its enrollment, whichever key is given.
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
    mutating func rotate(at now: Timestamp) throws(KeyringError) -> AnyPublicKey {
        var stored: NamedKey
        switch kind {
        case .device:
            stored = NamedKey(keys.first?.key.device.map { DevicePrivateKey($0.algorithm) } ?? PrivateKey(), at: now)
        case .sender: stored = NamedKey(SenderPrivateKey(), at: now)
        case .authority: throw .notRotatable(name)
        }
        var rotation = rotation
        guard let life = rotation.add(stored.key, at: now) else { throw .unconfirmed(name) }
        stored.life = life
        keys.insert(stored, at: 0)
        try signRecord(at: now)
        return stored.key
    }

    /// Returns the index of the key with this ID, or the newest in one of these states.
    func index(of id: KeyID?, from states: [KeyLife.State]) throws(KeyringError) -> Int {
        if let id {
            guard let index = keys.firstIndex(where: { $0.key.keyID == id }) else { throw .notFound(name) }
            guard states.contains(keys[index].life.state) else { throw .notUsable(name, keys[index].life.state) }
            return index
        }
        // Prefer the key in use over one that is waiting to replace it.
        let inUse = keys.firstIndex { $0.life.state == .active && $0.life.confirmed != nil }
        guard let index = inUse ?? keys.firstIndex(where: { states.contains($0.life.state) }) else { throw notUsable }
        return index
    }
}

extension Keyring {
    /// Returns the steps that are due. Makes no changes, and doesn't need the secret.
    ///
    /// - Parameters:
    ///   - name: A name, or nil for all.
    ///   - age: The age in seconds at which keys are rotated, or nil to rotate none.
    ///   - now: The current time.
    public func dueSteps(
        of name: KeyName? = nil, rotatingOlderThan age: Int64?, at now: Timestamp = .now()
    ) throws(KeyringError) -> [RotationStep] {
        try read(.atHand).contents.dueSteps(of: name, rotatingOlderThan: age, at: now)
    }

    /// Performs all due steps in one change, or makes no change if there are none.
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
    func dueSteps(
        of name: KeyName?, rotatingOlderThan age: Int64?, at now: Timestamp
    ) throws(KeyringError) -> [RotationStep] {
        let chosen = if let name { [try keys(of: name)] } else { sorted }
        return chosen.flatMap { $0.dueSteps(rotatingOlderThan: age, at: now) }
    }
}

extension NamedKeys {
    func dueSteps(rotatingOlderThan age: Int64?, at now: Timestamp) -> [RotationStep] {
        guard isOwn, kind != .authority else { return [] }
        var steps: [RotationStep] = []
        if rotation.isRotationDue(olderThan: age, at: now), let newest {
            steps.append(RotationStep(name: name, key: newest.key, act: .rotate))
        } else if let record, let newest, record.isRenewalDue(at: now) {
            steps.append(RotationStep(name: name, key: newest.key, act: .renew))
        }
        // A revoked key's secret is destroyed only on request.
        let retired = keys.filter { $0.life.erasureDue().map { now >= $0 } ?? false }
        return steps + retired.map { RotationStep(name: name, key: $0.key, act: .erase) }
    }
}
