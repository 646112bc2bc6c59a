internal import SealedPush

/// A sender set as it is stored: `senders <topic> <authority> <counter>`.
///
/// Each has a name of its own and none is ever changed, so of two processes that accept two sets at once both succeed, and
/// the higher counter counts: no order of calls puts the device back to an older set.
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

    /// The item for a set that was accepted; when, is for people who look into the keychain.
    static func item(_ set: SenderSet, accepted: Timestamp) -> SecretItem {
        var writer = JSONWriter()
        writer.object { $0.integer("accepted", accepted.secondsSince1970) }
        let text = Array(set.description.utf8)
        return SecretItem(
            account: "\(kind) \(set.topic) \(set.authority) \(set.counter)", attributes: writer.bytes,
            secret: text.withUnsafeBytes { ItemSecret(copying: $0) })
    }

    /// Nil where the secret is damaged.
    func set(_ secret: ItemSecret) -> SenderSet? {
        let text = secret.withBytes { String(decoding: $0, as: UTF8.self) }
        guard let set = try? SenderSet(parsing: text), set.topic == topic, set.authority == authority,
            set.counter == counter
        else { return nil }
        return set
    }

    /// The one with the highest counter, whoever has signed it (Specification 11.3.2).
    static func newest(of sets: [StoredSenderSet]) -> StoredSenderSet? {
        sets.max { first, second in
            if first.counter != second.counter { return first.counter < second.counter }
            return first.authority.description < second.authority.description
        }
    }

    private static let kind = "senders"
}
