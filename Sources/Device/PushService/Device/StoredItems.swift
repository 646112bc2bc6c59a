package import SealedPush

/// A device's secret items, parsed from a single reading. Other apps' items are ignored.
package struct StoredItems {
    /// Newest first, one per recipient.
    package let keys: [StoredKey]
    private let items: [ListedItem]

    package init(_ items: [ListedItem]) {
        self.items = items
        var keys: [DevicePublicKey: StoredKey] = [:]
        for key in items.compactMap(StoredKey.init) {
            // If two items share a name, the one whose life is further along wins: a retired key never becomes active.
            keys[key.recipient] = keys[key.recipient].map { StoredKey.further($0, key) } ?? key
        }
        self.keys = keys.values.sorted(by: StoredKey.isNewer)
    }

    package func enrollment(for topic: Topic) -> StoredEnrollment? {
        let account = StoredEnrollment.account(topic)
        return items.first { $0.account == account }.map(StoredEnrollment.init)
    }

    /// Returns every sender set of an app, including those that a newer one has replaced.
    func senderSets(for topic: Topic) -> [StoredSenderSet] {
        items.compactMap(StoredSenderSet.init).filter { $0.topic == topic }
    }
}

/// One of the device's keys as it's stored, `key push1…`, with its life.
package struct StoredKey {
    package let recipient: DevicePublicKey
    package let life: KeyLife
    package let item: ListedItem

    init?(_ item: ListedItem) {
        guard item.account.hasPrefix(Self.prefix),
            let recipient = try? DevicePublicKey(parsing: String(item.account.dropFirst(Self.prefix.count))),
            let life = KeyLife(attributes: item.attributes)
        else { return nil }
        self.recipient = recipient
        self.life = life
        self.item = item
    }

    package static func item(_ identity: DevicePrivateKey, life: KeyLife) -> SecretItem {
        SecretItem(
            account: prefix + identity.recipient.description, attributes: life.attributes,
            secret: identity.withSecretText { ItemSecret(copying: $0) })
    }

    /// Returns the key with its secret; nil if the secret is gone or doesn't match.
    func deviceKey(in items: any SecretItems) throws(SecretItemError) -> DeviceKey? {
        guard let secret = try items.secret(of: item),
            let identity = secret.withBytes({ try? DevicePrivateKey(parsing: $0) }), identity.recipient == recipient
        else { return nil }
        return DeviceKey(identity, life: life)
    }

    static func isNewer(_ first: StoredKey, _ second: StoredKey) -> Bool {
        if first.life.created != second.life.created { return first.life.created > second.life.created }
        return first.recipient.description < second.recipient.description
    }

    static func further(_ first: StoredKey, _ second: StoredKey) -> StoredKey {
        let order = KeyLife.State.allCases
        let (one, other) = (order.firstIndex(of: first.life.state), order.firstIndex(of: second.life.state))
        return one ?? 0 >= other ?? 0 ? first : second
    }

    private static let prefix = "key "
}

extension KeyLife {
    /// JSON with each time in whole seconds since 1970.
    package var attributes: [UInt8] {
        var writer = JSONWriter()
        writer.object { object in
            object.integer("created", created.secondsSince1970)
            object.integer("confirmed", confirmed?.secondsSince1970)
            object.integer("retired", retired?.secondsSince1970)
            object.integer("revoked", revoked?.secondsSince1970)
        }
        return writer.bytes
    }

    /// Nil for anything else, because a key whose life isn't known opens no message.
    fileprivate init?(attributes: [UInt8]) {
        guard let members = JSONReader.object(attributes, maximumByteCount: 1_024) else { return nil }
        var moments: [String: Timestamp] = [:]
        for (name, value) in members {
            guard ["created", "confirmed", "retired", "revoked"].contains(name),
                let moment = value.integer.flatMap(Timestamp.init(secondsSince1970:))
            else { return nil }
            moments[name] = moment
        }
        self.init(moments: moments)
    }
}

/// A sender set as it's stored: `senders <topic> <authority> <counter>`. Each has its own name and is never changed. If
/// processes accept two sets at once, both succeed and the higher counter counts, so no device reverts to an older set.
struct StoredSenderSet {
    let topic: Topic
    let authority: AuthorityPublicKey
    let counter: UInt64
    let item: ListedItem

    init?(_ item: ListedItem) {
        let words = item.account.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 4, words[0] == Self.kind, let topic = Topic(parsing: words[1]),
            let authority = try? AuthorityPublicKey(parsing: words[2]), let counter = UInt64(words[3])
        else { return nil }
        self.topic = topic
        self.authority = authority
        self.counter = counter
        self.item = item
    }

    static func item(_ set: SenderSet) -> SecretItem {
        let text = Array(set.description.utf8)
        return SecretItem(
            account: "\(kind) \(set.topic) \(set.authority) \(set.counter)", attributes: [],
            secret: text.withUnsafeBytes { ItemSecret(copying: $0) })
    }

    /// Returns nil if the secret is damaged.
    func set(_ secret: ItemSecret) -> SenderSet? {
        let text = secret.withBytes { String(decoding: $0, as: UTF8.self) }
        guard let set = try? SenderSet(parsing: text), set.topic == topic, set.authority == authority,
            set.counter == counter
        else { return nil }
        return set
    }

    /// Returns the set with the highest counter, whichever of them signed it (Specification 11.3.2).
    static func newest(of sets: [StoredSenderSet]) -> StoredSenderSet? {
        sets.max { first, second in
            if first.counter != second.counter { return first.counter < second.counter }
            return first.authority.description < second.authority.description
        }
    }

    private static let kind = "senders"
}

/// The device's enrollment key for one app as it's stored, `enrollment <topic>`, with the newest record it has signed.
package struct StoredEnrollment {
    package let item: ListedItem
    /// The counter of the newest record; 0 before the first. Nil if the item is damaged, so the counter is unknown.
    package let counter: UInt64?
    /// Nil before the first record, or if it's damaged.
    let record: DeviceRecord?

    init(_ item: ListedItem) {
        self.item = item
        let limit = DeviceRecord.maximumCharacterCount + 1_024
        let members = JSONReader.object(item.attributes, maximumByteCount: limit) ?? [:]
        counter = members["counter"]?.integer.flatMap { UInt64(exactly: $0) }
        record = members["record"]?.string.flatMap { try? DeviceRecord(parsing: $0) }
    }

    /// Makes the item for storing a key, before its first record.
    package static func item(_ key: EnrollmentPrivateKey, for topic: Topic) -> SecretItem {
        SecretItem(
            account: account(topic), attributes: attributes(counter: 0, record: nil),
            secret: key.withSecretText { ItemSecret(copying: $0) })
    }

    /// Returns nil if the key is damaged or gone.
    package func key(in items: any SecretItems) throws(SecretItemError) -> EnrollmentPrivateKey? {
        try items.secret(of: item)?.withBytes { try? EnrollmentPrivateKey(parsing: $0) }
    }

    static func account(_ topic: Topic) -> String { "enrollment \(topic)" }

    /// The counter is stored beside the record, so that it survives a record that can't be read.
    package static func attributes(counter: UInt64, record: DeviceRecord?) -> [UInt8] {
        var writer = JSONWriter(reservingByteCount: 1_200)
        writer.object { object in
            object.integer("counter", Int64(counter))
            object.string("record", record?.description)
        }
        return writer.bytes
    }
}

/// A device's own keys in its keychain, as needed for opening messages. Only reads; ``OwnDevice`` changes them. A key is
/// found by its name, and only its secret is read. An extension that reads while its app is making a change sees a state
/// between two calls, which still opens what should open. A key is reported missing only if no item can be hidden; before
/// the first unlock, the answer is `locked`. Safe across threads and processes.
package struct DeviceKeys: KeyStore {
    private let items: (any SecretItems)?

    /// - Parameter items: Nil if the device has no keychain.
    package init(_ items: (any SecretItems)?) { self.items = items }

    package func keys(matching isWanted: (DevicePublicKey) -> Bool) throws(KeyStoreError) -> [DeviceKey] {
        try read { (items) throws(SecretItemError) in
            // A key whose secret could be read exists, whatever else is hidden.
            let found = try Self.keys(isWanted, among: items.list(), in: items)
            return try found.isEmpty ? Self.keys(isWanted, among: items.all(), in: items) : found
        }
    }

    private static func keys(
        _ isWanted: (DevicePublicKey) -> Bool, among listed: [ListedItem], in items: any SecretItems
    ) throws(SecretItemError) -> [DeviceKey] {
        var found: [DeviceKey] = []
        for key in StoredItems(listed).keys where key.life.opens && isWanted(key.recipient) {
            if let key = try key.deviceKey(in: items) { found.append(key) }
        }
        return found
    }

    package func senderSet(
        for topic: Topic, of authorities: [AuthorityPublicKey]
    ) throws(KeyStoreError) -> SenderSet? {
        for _ in 1...Self.attemptCount {
            let listed = try read { (items) throws(SecretItemError) in try items.all() }
            let sets = StoredItems(listed).senderSets(for: topic).filter { authorities.contains($0.authority) }
            guard let newest = StoredSenderSet.newest(of: sets) else { return nil }
            // If it's gone, it has made room for a newer one.
            guard let secret = try read({ (items) throws(SecretItemError) in try items.secret(of: newest.item) }) else {
                continue
            }
            // Without it, the senders that are built into the app would be trusted again.
            guard let set = newest.set(secret) else { throw .unavailable("the newest sender set is damaged") }
            return set
        }
        throw .unavailable("another process keeps changing the sender set; try again later")
    }

    private func read<Answer>(
        _ body: (any SecretItems) throws(SecretItemError) -> Answer
    ) throws(KeyStoreError) -> Answer {
        guard let items else {
            throw .unavailable("there is no keychain outside Apple's systems; run the extension in device-simulator")
        }
        do {
            return try body(items)
        } catch {
            switch error {
            case .locked: throw .locked
            case .other(let code): throw .unavailable("the keychain failed with error \(code)")
            case .duplicate, .notFound: throw .unavailable("the keychain could not be read")
            }
        }
    }

    private static let attemptCount = 16
}

extension SecretItems {
    /// Returns nil if the item has been removed since it was listed.
    func secret(of item: ListedItem) throws(SecretItemError) -> ItemSecret? {
        do throws(SecretItemError) { return try secret(account: item.account) } catch {
            guard error == .notFound else { throw error }
            return nil
        }
    }
}
