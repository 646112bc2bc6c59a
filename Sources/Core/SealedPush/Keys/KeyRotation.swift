/// The life cycle of the keys under one name, a device's or a sender's: which one is in use, how actions change them, and
/// which actions are due.
///
/// A value without storage, so that a phone's keychain and a server's keyring follow the same rules. The owner of the keys
/// reads their lives into a value, performs an action, and writes the changed lives back, newest first. If only some are
/// written, the keys still open what they should, and ``retireReplaced()`` completes the action. Source: Specification 13.
package struct KeyRotation<Key: Hashable & Sendable>: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let key: Key
        package fileprivate(set) var life: KeyLife
    }

    /// The keys and their lives, newest first.
    package private(set) var members: [Member]

    /// - Parameter keys: distinct keys, newest first.
    package init(_ keys: [(Key, KeyLife)]) { members = keys.map { Member(key: $0.0, life: $0.1) } }

    package func life(of key: Key) -> KeyLife? { members.first { $0.key == key }?.life }

    package var active: [Member] { members.filter { $0.life.state == .active } }
    /// The newest key that is known to be in use at both ends.
    package var confirmed: Member? { active.first { $0.life.confirmed != nil } }
    /// The key that is waiting to replace another one.
    package var unconfirmed: Member? { active.first { $0.life.confirmed == nil } }

    /// Inserts a new key before the others and returns its life; returns nil and changes nothing if one is unconfirmed. It
    /// is newer than all others even if the clock was set back, since keys are used for sealing in that order. A key that
    /// doesn't replace another is confirmed at once.
    package mutating func add(_ key: Key, at now: Timestamp) -> KeyLife? {
        guard unconfirmed == nil else { return nil }
        let created = max(now, members.first?.life.created.advanced(bySeconds: 1) ?? now)
        let life = KeyLife(created: created, confirmed: active.isEmpty ? created : nil)
        members.insert(Member(key: key, life: life), at: 0)
        return life
    }

    /// Records that an active key is in use, no earlier than its creation. The caller must then retire older keys.
    package mutating func confirm(_ key: Key, at moment: Timestamp) {
        change(key) { if $0.state == .active { $0.confirm(at: max(moment, $0.created)) } }
    }

    /// Retires and returns, newest first, all active keys older than the newest confirmed one, as of its confirmation.
    @discardableResult
    package mutating func retireReplaced() -> [Key] {
        guard let confirmed, let moment = confirmed.life.confirmed,
            let index = members.firstIndex(of: confirmed)
        else { return [] }
        let replaced = members[(index + 1)...].filter { $0.life.state == .active }.map(\.key)
        for key in replaced { retire(key, at: moment) }
        return replaced
    }

    package mutating func retire(_ key: Key, at now: Timestamp) { change(key) { $0.retire(at: now) } }
    package mutating func revoke(_ key: Key, at now: Timestamp) { change(key) { $0.revoke(at: now) } }
    package mutating func erase(_ key: Key, at now: Timestamp) { change(key) { $0.erase(at: now) } }

    private mutating func change(_ key: Key, _ body: (inout KeyLife) -> Void) {
        guard let index = members.firstIndex(where: { $0.key == key }) else { return }
        body(&members[index].life)
    }

    /// Whether the key in use is old enough to be replaced. Always false while a key is unconfirmed. `age` is in seconds;
    /// nil if keys aren't rotated by age.
    package func isRotationDue(olderThan age: Int64?, at now: Timestamp) -> Bool {
        guard let age, unconfirmed == nil, let newest = active.first else { return false }
        return now.seconds(since: newest.life.created) >= age
    }

    /// Returns the keys whose secrets must be destroyed: those that were retired `days` + 1 days ago, the revoked ones, and
    /// the retired ones that are no longer wanted.
    package func erasable(
        keeping days: Int = RotationRules.keeps, at now: Timestamp, unwanted isUnwanted: (Key) -> Bool = { _ in false }
    ) -> [Key] {
        members.filter { member in
            guard let due = member.life.erasureDue(keeping: days) else { return member.life.state == .revoked }
            return now >= due || isUnwanted(member.key)
        }.map(\.key)
    }

    /// Whether a key has waited so long that a person should check: the other end probably never received it.
    package func isOverdue(at now: Timestamp) -> Bool {
        unconfirmed?.life.isOverdue(at: now) ?? false
    }
}

extension DeviceRecord {
    /// Signs a device's next record, with its newest 16 active keys and a lifetime of 400 days. `last` is the highest known
    /// counter of this device; nil before its first record.
    package init(
        of rotation: KeyRotation<DevicePublicKey>, topic: Topic, after last: UInt64?,
        keeps: Int = RotationRules.keeps, at now: Timestamp, signedBy key: EnrollmentPrivateKey
    ) throws(RecordError) {
        try self.init(
            of: Self.recipients(of: rotation), topic: topic, counter: RecordCounter.next(after: last, at: now),
            created: now, expires: now.advanced(bySeconds: RotationRules.recordLifetime), keeps: keeps, signedBy: key)
    }

    /// Whether the record contains exactly the keys that it should. After a newer version of the app has been replaced by an
    /// older one, it also names keys that the older one doesn't have.
    package func names(_ rotation: KeyRotation<DevicePublicKey>) -> Bool {
        recipients == Self.recipients(of: rotation) && !hasUnknownKeys
    }

    /// Whether the record expires so soon that it must be signed again.
    package func isRenewalDue(at now: Timestamp) -> Bool { expires.seconds(since: now) < RotationRules.renewal }

    private static func recipients(of rotation: KeyRotation<DevicePublicKey>) -> [DevicePublicKey] {
        rotation.active.prefix(ListForm.keyCounts.upperBound).map(\.key)
    }
}
