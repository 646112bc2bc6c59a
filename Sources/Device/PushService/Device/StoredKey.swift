package import SealedPush

/// One of the device's keys as it's stored, `key push1…`, with its life.
package struct StoredKey {
    package let recipient: DevicePublicKey
    package let life: KeyLife
    package let item: ListedItem

    package init?(_ item: ListedItem) {
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
