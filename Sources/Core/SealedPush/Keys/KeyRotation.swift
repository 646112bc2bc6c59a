/// The life cycle of the keys under one name, a device's or a sender's: which is in use, what an act makes of them, and
/// what is due.
///
/// A value without storage, so that a phone's keychain and a server's keyring follow the same rules: whoever keeps the keys
/// reads their lives into one, performs an act, and writes back the lives that have changed, newest first. Written only in
/// part, the state opens what it should, and ``retireReplaced()`` ends what was begun. Source: Specification 13.
package struct KeyRotation<Key: Hashable & Sendable>: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let key: Key
        package fileprivate(set) var life: KeyLife
    }

    /// Newest first.
    package private(set) var members: [Member]

    /// - Parameter keys: newest first, none twice.
    package init(_ keys: [(Key, KeyLife)]) { members = keys.map { Member(key: $0.0, life: $0.1) } }

    package func life(of key: Key) -> KeyLife? { members.first { $0.key == key }?.life }

    package var active: [Member] { members.filter { $0.life.state == .active } }
    /// The newest that is known to be in use at both ends.
    package var confirmed: Member? { active.first { $0.life.confirmed != nil } }
    /// The one that waits to take another one's place.
    package var unconfirmed: Member? { active.first { $0.life.confirmed == nil } }

    /// Puts a new key before the others and returns its life; nil, and nothing changes, while another one is unconfirmed.
    ///
    /// It is newer than all others also where the clock was set back, as that is the order in which they are sealed to. One
    /// that takes nobody's place is confirmed at once.
    package mutating func add(_ key: Key, at now: Timestamp) -> KeyLife? {
        guard unconfirmed == nil else { return nil }
        let created = max(now, members.first?.life.created.advanced(bySeconds: 1) ?? now)
        let life = KeyLife(created: created, confirmed: active.isEmpty ? created : nil)
        members.insert(Member(key: key, life: life), at: 0)
        return life
    }

    /// Notes that an active key is in use, though not from before it was made. The older ones then have to retire.
    package mutating func confirm(_ key: Key, at moment: Timestamp) {
        change(key) { if $0.state == .active { $0.confirm(at: max(moment, $0.created)) } }
    }

    /// Retires all active keys that are older than the newest confirmed one, as of the moment when that was confirmed.
    /// Returns them, newest first.
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

    /// Whether the key in use is so old that a new one is to be made. Never while one is unconfirmed.
    ///
    /// - Parameter age: in seconds; nil where keys are not rotated by age.
    package func isRotationDue(olderThan age: Int64?, at now: Timestamp) -> Bool {
        guard let age, unconfirmed == nil, let newest = active.first else { return false }
        return now.seconds(since: newest.life.created) >= age
    }

    /// The keys whose secrets are due for destruction: those that retired `days` + 1 days ago, the revoked ones, and the retired
    /// ones that are not wanted any more.
    package func erasable(
        keeping days: Int = RotationRules.keeps, at now: Timestamp, unwanted isUnwanted: (Key) -> Bool = { _ in false }
    ) -> [Key] {
        members.filter { member in
            guard let due = member.life.erasureDue(keeping: days) else { return member.life.state == .revoked }
            return now >= due || isUnwanted(member.key)
        }.map(\.key)
    }

    /// Whether a key has waited so long that a person should look: the other end has probably never heard of it.
    package func isOverdue(at now: Timestamp) -> Bool {
        guard let unconfirmed else { return false }
        return now.seconds(since: unconfirmed.life.created) > RotationRules.confirmationWarning
    }
}

/// The times of a key's life, and of the record that names it, in seconds. Source: Specification 13.4.
package enum RotationRules {
    /// How long after its retirement messages may have been `sent` that a key still opens: two hours.
    package static let grace: Int64 = 2 * 3_600
    /// For how many days a retired secret is kept unless the app says otherwise; a day later it is erased.
    package static let keeps = 30
    /// A key that is not confirmed after 45 days needs a person's attention.
    package static let confirmationWarning: Int64 = 45 * 86_400
    /// From a record's signature to its end: 400 days, so that a device that is used once a year stays reachable.
    package static let recordLifetime: Int64 = 400 * 86_400
    /// How long before its end a record or a sender set is to be signed anew: 60 days.
    package static let renewal: Int64 = 60 * 86_400
}

extension DeviceRecord {
    /// Signs a device's next record: of its newest 16 active keys, for 400 days.
    ///
    /// - Parameter last: the highest counter that is known of this device; nil before its first record.
    package init(
        of rotation: KeyRotation<DevicePublicKey>, topic: Topic, after last: UInt64?,
        keeps: Int = RotationRules.keeps, at now: Timestamp, signedBy key: EnrollmentPrivateKey
    ) throws(RecordError) {
        try self.init(
            of: Self.recipients(of: rotation), topic: topic, counter: RecordCounter.next(after: last, at: now),
            created: now, expires: now.advanced(bySeconds: RotationRules.recordLifetime), keeps: keeps, signedBy: key)
    }

    /// Whether it names just those keys that it should.
    package func names(_ rotation: KeyRotation<DevicePublicKey>) -> Bool { recipients == Self.recipients(of: rotation) }

    /// Whether it ends so soon that it is to be signed anew.
    package func isRenewalDue(at now: Timestamp) -> Bool { expires.seconds(since: now) < RotationRules.renewal }

    private static func recipients(of rotation: KeyRotation<DevicePublicKey>) -> [DevicePublicKey] {
        rotation.active.prefix(ListForm.keyCounts.upperBound).map(\.key)
    }
}
