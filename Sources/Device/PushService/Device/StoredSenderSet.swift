import SealedPush

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
