internal import SealedPush

/// One operation of the app on its device's keys. It keeps the items that were read, updated by its own writes. It
/// starts with all items, none hidden by a locked device, so that it never adds a key beside an existing one.
///
/// The keychain can't change several items at once, so a process may be killed between any two steps. A key exists before a
/// record names it, and its life changes before its secret is removed. The next operation finishes the work.
struct KeyChange {
    private let items: any SecretItems
    private let configuration: ServiceConfiguration
    private var topic: Topic { configuration.topic }
    let now: Timestamp
    private(set) var stored: StoredItems

    init(_ items: any SecretItems, _ configuration: ServiceConfiguration, at now: Timestamp) throws(KeyChangeError) {
        self.items = items
        self.configuration = configuration
        self.now = now
        do { stored = StoredItems(try items.all()) } catch { throw KeyChangeError(error) }
    }

    /// The keys' lives, and the rules that they follow.
    var rotation: KeyRotation<DevicePublicKey> { KeyRotation(stored.keys.map { ($0.recipient, $0.life) }) }

    /// Creates a key; returns nil while another is waiting for its first message.
    mutating func addKey() throws(KeyChangeError) -> DevicePublicKey? {
        let algorithm = configuration.keyPolicy.algorithm
        guard algorithm.isAvailable else {
            throw .failed(.unavailable("the key policy needs ML-KEM; use libsodium 1.0.22 or the Server trait"))
        }
        let identity = DevicePrivateKey(algorithm)
        var rotation = rotation
        guard let life = rotation.add(identity.recipient, at: now) else { return nil }
        try add(StoredKey.item(identity, life: life))
        return identity.recipient
    }

    /// Writes the lives that an operation has changed, newest first, each only if it hasn't changed since it was read.
    /// Calls `wrote` after each, with the life before and after.
    mutating func write(
        _ rotation: KeyRotation<DevicePublicKey>, _ wrote: (DevicePublicKey, KeyLife, KeyLife) -> Void = { _, _, _ in }
    ) throws(KeyChangeError) {
        for key in stored.keys {
            guard let life = rotation.life(of: key.recipient), life != key.life else { continue }
            try call { (items) throws(SecretItemError) in try items.replace(key.item, attributes: life.attributes) }
            wrote(key.recipient, key.life, life)
        }
    }

    mutating func erase(_ recipient: DevicePublicKey) throws(KeyChangeError) {
        guard let key = stored.keys.first(where: { $0.recipient == recipient }) else { return }
        try remove(key.item)
    }

    mutating func remove(_ item: ListedItem) throws(KeyChangeError) {
        try call { (items) throws(SecretItemError) in
            do throws(SecretItemError) { try items.remove(account: item.account) } catch {
                // Another process has already removed it.
                guard error == .notFound else { throw error }
            }
        }
    }

    mutating func add(_ item: SecretItem) throws(KeyChangeError) {
        try call { (items) throws(SecretItemError) in try items.add(item) }
    }

    /// Returns the newest record. Signs a new one listing the active keys, newest first, if the current one won't do.
    /// `known` is the newest record that the server has, signed by this device's own key; the new counter is higher. With
    /// `isWanted`, it signs a record in any case. Throws `counterExhausted` if no counter is higher.
    mutating func signRecord(
        above known: DeviceRecord? = nil, anyway isWanted: Bool = false
    ) throws(KeyChangeError) -> DeviceRecord {
        let enrollment = try enrollment()
        guard let key = try key(of: enrollment), let counter = enrollment.counter else {
            throw .failed(.unavailable("the enrollment key in the keychain is damaged"))
        }
        if let known { try require(known, by: key) }
        if !isWanted, let record = enrollment.record, record.names(rotation), record.enrollment == key.enrollment,
            record.counter == counter, record.keeps == configuration.keepsRetiredKeys,
            !record.isRenewalDue(at: now),
            known.map({ $0.counter < counter || $0 == record }) ?? true
        {
            return record
        }
        let last = max(counter, known?.counter ?? 0)
        guard last < RecordCounter.maximum else { throw .failed(.counterExhausted) }
        let record: DeviceRecord
        do {
            record = try DeviceRecord(
                of: rotation, topic: topic, after: last, keeps: configuration.keepsRetiredKeys, at: now, signedBy: key)
        } catch { throw .failed(.record(error)) }
        let attributes = StoredEnrollment.attributes(counter: record.counter, record: record)
        // If two processes sign at once, one of them starts over, so a counter is never used for two records.
        try call { (items) throws(SecretItemError) in try items.replace(enrollment.item, attributes: attributes) }
        return record
    }

    /// The counter is trusted because this device itself signed it; no server can forge it.
    private func require(_ known: DeviceRecord, by key: EnrollmentPrivateKey) throws(KeyChangeError) {
        guard known.enrollment == key.enrollment else { throw .failed(.record(.foreignSigner)) }
        guard known.topic == topic else { throw .failed(.record(.otherTopic)) }
    }

    /// Returns the enrollment key; creates it if there is none.
    private mutating func enrollment() throws(KeyChangeError) -> StoredEnrollment {
        if let enrollment = stored.enrollment(for: topic) { return enrollment }
        try add(StoredEnrollment.item(EnrollmentPrivateKey(), for: topic))
        // If it's gone again, another process got there first.
        guard let enrollment = stored.enrollment(for: topic) else { throw .raced }
        return enrollment
    }

    mutating func forgetEnrollment() throws(KeyChangeError) {
        if let enrollment = stored.enrollment(for: topic) { try remove(enrollment.item) }
    }

    /// Returns nil if there is no key, or it's damaged.
    func enrollmentKey() throws(KeyChangeError) -> EnrollmentPrivateKey? {
        guard let enrollment = stored.enrollment(for: topic) else { return nil }
        return try key(of: enrollment)
    }

    private func key(of enrollment: StoredEnrollment) throws(KeyChangeError) -> EnrollmentPrivateKey? {
        do { return try enrollment.key(in: items) } catch { throw KeyChangeError(error) }
    }

    /// Returns nil if the set is damaged.
    func set(_ stored: StoredSenderSet) throws(KeyChangeError) -> SenderSet? {
        do { return stored.set(try items.secret(account: stored.item.account)) } catch { throw KeyChangeError(error) }
    }

    /// Makes one call that writes, then reads the items again.
    private mutating func call(_ body: (any SecretItems) throws(SecretItemError) -> Void) throws(KeyChangeError) {
        do {
            try body(items)
            stored = StoredItems(try items.list())
        } catch { throw KeyChangeError(error) }
    }
}

enum KeyChangeError: Error {
    /// Another process got there first; start over.
    case raced
    case failed(DeviceError)

    init(_ error: SecretItemError) {
        switch error {
        case .duplicate, .notFound: self = .raced
        case .locked: self = .failed(.locked)
        // errSecMissingEntitlement.
        case .other(-34018):
            self = .failed(
                .unavailable(
                    """
                    the keychain group is neither one of the target's app groups nor, with the team's prefix, one of its \
                    keychain-access-groups (-34018)
                    """))
        case .other(let code): self = .failed(.unavailable("the keychain failed with error \(code)"))
        }
    }
}
