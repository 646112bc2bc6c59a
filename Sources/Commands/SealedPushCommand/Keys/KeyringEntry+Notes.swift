internal import PushKeyring
internal import SealedPush

extension KeyringEntry {
    /// Returns a note on one of the keys, or nil if there is nothing unusual about it.
    func note(on key: Key, at now: Timestamp) -> String? {
        switch key.life.state {
        case .erased: return key.life.erased.map { "erased on \(TimeText.day($0))" }
        case .revoked: return key.life.revoked.map { "revoked on \(TimeText.day($0)): \(revocationWords)" }
        case .retired: return retirementNote(on: key.life, at: now)
        case .active:
            return key.life.confirmed == nil ? waitingNote(on: key.life, at: now) : activeNote(on: key, at: now)
        }
    }

    private var revocationWords: String {
        switch kind {
        case .device: "no longer used to open or seal"
        case .sender: "no longer seals"
        case .authority: "no longer signs"
        }
    }

    private func retirementNote(on life: KeyLife, at now: Timestamp) -> String? {
        guard let until = life.opensUntil, let erasure = life.erasureDue() else { return nil }
        guard kind == .device else { return "retired: no longer seals" }
        guard isOwn else { return "retired: no longer sealed to" }
        if now >= erasure { return "retired: erasure overdue since \(TimeText.day(erasure)) (keys rotate)" }
        return "retired: opens messages sent up to \(TimeText.minute(until)); erasure due on \(TimeText.day(erasure))"
    }

    private func waitingNote(on life: KeyLife, at now: Timestamp) -> String {
        let since = life.isOverdue(at: now) ? " for \(now.seconds(since: life.created) / 86_400) days!" : ""
        guard kind == .device else { return "new, not in use\(since): keys rotate --confirm, once devices trust it" }
        if isOwn { return "new: waiting for its first message\(since)" }
        return recordText == nil ? "unverified: no signed record" : "not sealed to yet: keys challenge"
    }

    private func activeNote(on key: Key, at now: Timestamp) -> String? {
        if let recordExpires {
            if now > recordExpires { return "its record expired on \(TimeText.day(recordExpires))" }
            let left = recordExpires.seconds(since: now)
            if left < RotationRules.renewal { return "its record expires in \(TimeText.span(left))" }
        }
        let age = now.seconds(since: key.life.created)
        guard isOwn, kind != .authority, age > RotationRules.advisedAge else { return nil }
        return "\(TimeText.span(age)) old: keys rotate"
    }

    /// Returns the entry as JSON, with public information only.
    func json(at now: Timestamp = .now()) -> JSONValue {
        [
            "name": .text(name), "kind": .string(kind.rawValue), "keyID": .text(key.keyID), "publicKey": .text(key),
            "created": .string(current.life.created.iso8601), "state": .string(current.life.state.rawValue),
            "hasSecret": .bool(current.hasSecret), "isOwn": .bool(isOwn), "enrollment": .text(enrollmentText),
            "topic": .text(topic), "record": .text(recordText), "recordExpires": .text(recordExpires?.iso8601),
            "keys": .array(keys.map { json($0, at: now) }),
        ]
    }

    private func json(_ key: Key, at now: Timestamp) -> JSONValue {
        let life = key.life
        return [
            "keyID": .text(key.key.keyID), "publicKey": .text(key.key), "state": .string(life.state.rawValue),
            "hasSecret": .bool(key.hasSecret), "created": .string(life.created.iso8601),
            "confirmed": .text(life.confirmed?.iso8601), "retired": .text(life.retired?.iso8601),
            "revoked": .text(life.revoked?.iso8601), "erased": .text(life.erased?.iso8601),
            "opensUntil": .text(life.opensUntil?.iso8601), "erasureDue": .text(life.erasureDue()?.iso8601),
            "note": .text(note(on: key, at: now)),
        ]
    }
}
