package import SealedPush

/// What a device's secret items stand for, as they were read at one moment. Other apps' items are left alone.
package struct StoredItems {
    /// Newest first, one a recipient.
    package let keys: [StoredKey]
    private let items: [ListedItem]

    package init(_ items: [ListedItem]) {
        self.items = items
        var keys: [DevicePublicKey: StoredKey] = [:]
        for key in items.compactMap(StoredKey.init) {
            // Of two items of one name the one whose life is further on counts: a retired key never becomes active.
            keys[key.recipient] = keys[key.recipient].map { StoredKey.further($0, key) } ?? key
        }
        self.keys = keys.values.sorted(by: StoredKey.isNewer)
    }

    package func enrollment(for topic: Topic) -> StoredEnrollment? {
        let account = StoredEnrollment.account(topic)
        return items.first { $0.account == account }.map(StoredEnrollment.init)
    }

    /// Every sender set of an app, also those that a newer one has taken the place of.
    func senderSets(for topic: Topic) -> [StoredSenderSet] {
        items.compactMap(StoredSenderSet.init).filter { $0.topic == topic }
    }
}

/// One of the device's keys as it is stored: `key push1…`, with its life.
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

    /// The item for a key that is to be stored.
    package static func item(_ identity: DevicePrivateKey, life: KeyLife) -> SecretItem {
        SecretItem(
            account: prefix + identity.recipient.description, attributes: life.attributes,
            secret: identity.withSecretText { ItemSecret(copying: $0) })
    }

    /// The key with its secret; nil where that is gone, or is not the recipient's.
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
    /// JSON: each moment in whole seconds since 1970.
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

    /// Nil for anything else: a key whose life is not known opens nothing.
    fileprivate init?(attributes: [UInt8]) {
        guard let members = JSONReader.object(attributes, maximumByteCount: 1_024) else { return nil }
        var moments: [String: Timestamp] = [:]
        for (name, value) in members {
            guard ["created", "confirmed", "retired", "revoked"].contains(name), let moment = value.moment else {
                return nil
            }
            moments[name] = moment
        }
        guard let created = moments["created"] else { return nil }
        self.init(
            created: created, confirmed: moments["confirmed"], retired: moments["retired"],
            revoked: moments["revoked"], erased: nil)
    }
}

extension JSONValue {
    /// Whole seconds since 1970.
    var moment: Timestamp? {
        guard case .integer(let seconds) = self else { return nil }
        return Timestamp(secondsSince1970: seconds)
    }
}
