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
    init?(attributes: [UInt8]) {
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

extension SecretItems {
    /// Returns nil if the item has been removed since it was listed.
    func secret(of item: ListedItem) throws(SecretItemError) -> ItemSecret? {
        do throws(SecretItemError) { return try secret(account: item.account) } catch {
            guard error == .notFound else { throw error }
            return nil
        }
    }
}
