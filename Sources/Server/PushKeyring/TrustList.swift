public import SealedPush

/// The senders that a keyring's devices trust, by app.
public struct TrustList: Hashable, Sendable {
    /// The entries, in the order in which they were added.
    public private(set) var entries: [Entry]

    /// A trusted sender, authority, or sender set.
    public struct Entry: Hashable, Sendable {
        /// The app's topic.
        public let topic: Topic
        /// The sender, authority, or sender set that the app's devices trust.
        public let trusted: Trusted
        /// The time at which the entry was added to the list.
        public let added: Timestamp
    }

    /// A sender, an authority, or a sender set that devices trust.
    public enum Trusted: Hashable, Sendable {
        /// A sender, as an app would build it in.
        case sender(SenderPublicKey)
        /// A pinned authority, whose sender sets are trusted.
        case authority(AuthorityPublicKey)
        /// A pinned authority's newest sender set. The newest one of all replaces the listed senders.
        case senderSet(SenderSet)
    }

    /// Creates an empty list.
    public init() { entries = [] }

    /// Returns the senders that are listed for an app, in order. The newest set is in ``senderSet(for:)``.
    public func trustedSenders(for topic: Topic) -> TrustedSenders {
        let trusted = entries.filter { $0.topic == topic }.map(\.trusted)
        return TrustedSenders(
            trusted.compactMap { if case .sender(let sender) = $0 { sender } else { nil } },
            authorities: trusted.compactMap { if case .authority(let authority) = $0 { authority } else { nil } })
    }

    /// Returns the senders trusted for an app now: those of the newest set if an authority is pinned, otherwise those listed.
    public func senders(for topic: Topic, at now: Timestamp) -> [SenderPublicKey] {
        trustedSenders(for: topic).senders(following: senderSet(for: topic), topic: topic, at: now)
    }

    /// Returns the newest of the sets that were accepted for an app, one for each pinned authority. Only this one counts.
    public func senderSet(for topic: Topic) -> SenderSet? {
        let authorities = trustedSenders(for: topic).authorities
        return entries.filter { $0.topic == topic }.compactMap(\.trusted.senderSet)
            .filter { authorities.contains($0.authority) }.max { $0.counter < $1.counter }
    }

    /// Returns false if the entry is already in the list.
    mutating func add(_ trusted: Trusted, for topic: Topic, at now: Timestamp) throws(KeyringError) -> Bool {
        if let set = trusted.senderSet {
            let known = senderSet(for: topic)
            guard set != known else { return false }
            do { try trustedSenders(for: topic).check(set, topic: topic, replacing: known, at: now) } catch {
                throw .record(error)
            }
            entries.removeAll { $0.topic == topic && $0.trusted.senderSet?.authority == set.authority }
        } else if entries.contains(where: { $0.topic == topic && $0.trusted == trusted }) {
            return false
        }
        entries.append(Entry(topic: topic, trusted: trusted, added: now))
        return true
    }

    /// Returns false if the entry isn't in the list. Removing an authority also removes its sender set.
    mutating func remove(_ trusted: Trusted, for topic: Topic) -> Bool {
        let count = entries.count
        entries.removeAll { entry in
            let authority = entry.trusted.senderSet?.authority
            return entry.topic == topic && (entry.trusted == trusted || authority.map(Trusted.authority) == trusted)
        }
        return entries.count < count
    }
}

extension TrustList {
    /// Reads one paragraph of a keyring. Returns false if it doesn't belong to a trust list.
    mutating func read(_ file: borrowing TextFile, in paragraph: Int) -> Bool {
        guard file.names(in: paragraph) == ["topic", "trusted", "added"],
            let topic = file.text("topic", in: paragraph).flatMap(Topic.init(parsing:)),
            let trusted = file.text("trusted", in: paragraph).flatMap(Trusted.init(text:)),
            let added = file.moment("added", in: paragraph)
        else { return false }
        entries.append(Entry(topic: topic, trusted: trusted, added: added))
        return true
    }

    func write(to writer: inout TextFileWriter) {
        for entry in entries {
            writer.paragraph()
            writer.field("topic", entry.topic.description)
            writer.field("trusted", entry.trusted.text)
            writer.field("added", entry.added.iso8601)
        }
    }
}

extension TrustList.Trusted {
    fileprivate init?(text: String) {
        switch try? AnyPublicKey(parsing: text) {
        case .sender(let sender)?: self = .sender(sender)
        case .authority(let authority)?: self = .authority(authority)
        case .device?: return nil
        case nil:
            guard let set = try? SenderSet(parsing: text) else { return nil }
            self = .senderSet(set)
        }
    }

    fileprivate var text: String { senderSet?.description ?? publicKey.description }

    var senderSet: SenderSet? {
        guard case .senderSet(let set) = self else { return nil }
        return set
    }

    /// The key for the audit log. For a sender set, its authority's key.
    fileprivate var publicKey: AnyPublicKey {
        switch self {
        case .sender(let sender): .sender(sender)
        case .authority(let authority): .authority(authority)
        case .senderSet(let set): .authority(set.authority)
        }
    }
}

extension Keyring {
    /// Returns the trust list of this keyring's devices, which is authentic if the keyring is sealed.
    public func trustList() throws(KeyringError) -> TrustList { try read(.full).contents.trust }

    /// Trusts a sender, pins an authority, or accepts a pinned authority's sender set. Returns false if nothing changed.
    ///
    /// - Throws: `record` if a set is rejected as foreign, expired, or older than the known one.
    @discardableResult
    public func trust(
        _ trusted: TrustList.Trusted, for topic: Topic, at now: Timestamp = .now()
    ) throws(KeyringError) -> Bool {
        try change(at: now) { (change) throws(KeyringError) in
            guard try change.contents.trust.add(trusted, for: topic, at: now) else { return false }
            change.note(.trusted, nil, trusted.publicKey)
            return true
        }
    }

    /// Removes an entry from the trust list. Returns false if it wasn't in the list.
    @discardableResult
    public func distrust(
        _ trusted: TrustList.Trusted, for topic: Topic, at now: Timestamp = .now()
    ) throws(KeyringError) -> Bool {
        try change(at: now) { (change) throws(KeyringError) in
            guard change.contents.trust.remove(trusted, for: topic) else { return false }
            change.note(.distrusted, nil, trusted.publicKey)
            return true
        }
    }
}
