internal import SealedPush

/// One act of the app on its device's keys: what was read, kept up to date with what this has written since. It begins
/// with all items, none of them hidden by a locked device, so that no key is made beside one that is there.
///
/// The keychain knows no changes of several items, so each step is a call of its own, and steps are in such an order
/// that a process may be killed between any two: a key is there before a record names it, and its life is changed before
/// its secret goes. What was left undone, the next act does.
struct KeyChange {
    private let items: any SecretItems
    private let topic: Topic
    let now: Timestamp
    private(set) var stored: StoredItems

    init(_ items: any SecretItems, topic: Topic, at now: Timestamp) throws(KeyChangeError) {
        self.items = items
        self.topic = topic
        self.now = now
        do { stored = StoredItems(try items.all()) } catch { throw KeyChangeError(error) }
    }

    /// Newest first.
    var keys: [StoredKey] { stored.keys }
    var activeKeys: [StoredKey] { keys.filter { $0.life.state == .active } }
    /// A key that waits for its first message.
    var unconfirmed: StoredKey? { activeKeys.first { $0.life.confirmed == nil } }

    /// Makes a key. One that takes nobody's place is confirmed at once.
    mutating func addKey() throws(KeyChangeError) -> Recipient {
        // Newer than all others also where the clock was set back, for that is the order in which they are sealed to.
        let created = max(now, keys.first?.life.created.advanced(bySeconds: 1) ?? now)
        let life = KeyLife(created: created, confirmed: activeKeys.isEmpty ? created : nil)
        let identity = Identity()
        try add(StoredKey.item(identity, life: life))
        return identity.recipient
    }

    mutating func change(_ key: StoredKey, _ body: (inout KeyLife) -> Void) throws(KeyChangeError) {
        var life = key.life
        body(&life)
        guard life != key.life else { return }
        try call { (items) throws(SecretItemError) in try items.replace(key.item, attributes: life.attributes) }
    }

    /// Destroys a key's secret.
    mutating func erase(_ key: StoredKey) throws(KeyChangeError) { try remove(key.item) }

    mutating func remove(_ item: ListedItem) throws(KeyChangeError) {
        try call { (items) throws(SecretItemError) in
            do throws(SecretItemError) { try items.remove(account: item.account) } catch {
                // Another process was faster: as good.
                guard error == .notFound else { throw error }
            }
        }
    }

    mutating func add(_ item: SecretItem) throws(KeyChangeError) {
        try call { (items) throws(SecretItemError) in try items.add(item) }
    }

    /// Signs a record of the active keys, newest first, unless there is one that will do for a while; gives the newest.
    ///
    /// - Parameters:
    ///   - known: the newest record that the server has, signed by this device's own key. The new one counts higher.
    ///   - isWanted: whether one is signed in any case.
    mutating func signRecord(
        above known: DeviceRecord? = nil, anyway isWanted: Bool = false
    ) throws(KeyChangeError) -> DeviceRecord {
        let enrolment = try enrolment()
        guard let key = try key(of: enrolment), let counter = enrolment.counter else {
            throw .failed(.unavailable("the enrolment key in the keychain is damaged"))
        }
        if let known { try require(known, by: key) }
        let recipients = activeKeys.prefix(RecordTimes.maximumKeyCount).map(\.recipient)
        if !isWanted, let record = enrolment.record, record.recipients == recipients, record.enrolment == key.enrolment,
            record.counter == counter, record.expires.seconds(since: now) >= RecordTimes.renewal,
            known.map({ $0.counter < counter || $0 == record }) ?? true
        {
            return record
        }
        let record: DeviceRecord
        do {
            record = try DeviceRecord(
                of: recipients, topic: topic,
                counter: RecordCounter.next(after: max(counter, known?.counter ?? 0), at: now), created: now,
                expires: now.advanced(bySeconds: RecordTimes.lifetime), signedBy: key)
        } catch { throw .failed(.record(error)) }
        let attributes = StoredEnrolment.attributes(counter: record.counter, record: record)
        // Of two processes that sign at once one begins again: a counter is never used for two records.
        try call { (items) throws(SecretItemError) in try items.replace(enrolment.item, attributes: attributes) }
        return record
    }

    /// Its counter is believed because this device itself has signed it: no server can make one up.
    private func require(_ known: DeviceRecord, by key: EnrolmentKey) throws(KeyChangeError) {
        guard known.enrolment == key.enrolment else { throw .failed(.record(.foreignSigner)) }
        guard known.topic == topic else { throw .failed(.record(.otherTopic)) }
    }

    /// The enrolment key, made now if there is none.
    private mutating func enrolment() throws(KeyChangeError) -> StoredEnrolment {
        if let enrolment = stored.enrolment(for: topic) { return enrolment }
        try add(StoredEnrolment.item(EnrolmentKey(), for: topic))
        // Gone again: then another process was faster.
        guard let enrolment = stored.enrolment(for: topic) else { throw .raced }
        return enrolment
    }

    /// Nil where there is none, or it is damaged.
    func enrolmentKey() throws(KeyChangeError) -> EnrolmentKey? {
        guard let enrolment = stored.enrolment(for: topic) else { return nil }
        return try key(of: enrolment)
    }

    private func key(of enrolment: StoredEnrolment) throws(KeyChangeError) -> EnrolmentKey? {
        do { return try enrolment.key(in: items) } catch { throw KeyChangeError(error) }
    }

    /// Nil where it is damaged.
    func set(_ stored: StoredSenderSet) throws(KeyChangeError) -> SenderSet? {
        do { return stored.set(try items.secret(account: stored.item.account)) } catch { throw KeyChangeError(error) }
    }

    /// One call that writes, and a look at what there is now.
    private mutating func call(_ body: (any SecretItems) throws(SecretItemError) -> Void) throws(KeyChangeError) {
        do {
            try body(items)
            stored = StoredItems(try items.list())
        } catch { throw KeyChangeError(error) }
    }
}

enum KeyChangeError: Error {
    /// Another process was faster: begin again.
    case raced
    case failed(DeviceError)

    init(_ error: SecretItemError) {
        switch error {
        case .duplicate, .notFound: self = .raced
        case .locked: self = .failed(.locked)
        case .other(let code): self = .failed(.unavailable("the keychain answered with \(code)"))
        }
    }
}

/// The times of a device's record, in seconds. Source: Specification 13.4.
enum RecordTimes {
    /// 400 days, so that a device that is used once a year stays reachable.
    static let lifetime: Int64 = 400 * 86_400
    /// How long before its end it is signed anew.
    static let renewal: Int64 = 60 * 86_400
    /// A record names no more.
    static let maximumKeyCount = 16
}
