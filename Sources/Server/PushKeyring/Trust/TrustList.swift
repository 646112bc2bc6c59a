public import SealedPush

/// Whom a keyring's devices believe, app by app.
public struct TrustList: Hashable, Sendable {
    public private(set) var entries: [Entry]

    /// One that is believed.
    public struct Entry: Hashable, Sendable {
        public let topic: Topic
        public let trusted: Trusted
        /// When it came into the list.
        public let added: Timestamp
    }

    public enum Trusted: Hashable, Sendable {
        /// A sender, as an app has it built in.
        case sender(SenderPublicKey)
        /// A pinned authority: its sender sets are believed.
        case authority(AuthorityPublicKey)
        /// The newest sender set of a pinned authority; it takes the place of the senders.
        case senderSet(SenderSet)
    }

    public init() { entries = [] }

    /// The senders that are listed for an app, in order; the newest set is ``senderSet(for:)``.
    public func trustedSenders(for topic: Topic) -> TrustedSenders {
        var senders: [SenderPublicKey] = []
        var authorities: [AuthorityPublicKey] = []
        for entry in entries where entry.topic == topic {
            switch entry.trusted {
            case .sender(let sender): senders.append(sender)
            case .authority(let authority): authorities.append(authority)
            case .senderSet: break
            }
        }
        return TrustedSenders(senders, authorities: authorities)
    }

    /// Who is believed for an app now: the newest set's senders where an authority is pinned, else those listed.
    public func senders(for topic: Topic, at now: Timestamp) -> [SenderPublicKey] {
        trustedSenders(for: topic).senders(following: senderSet(for: topic), topic: topic, at: now)
    }

    /// The newest set that was accepted for an app.
    public func senderSet(for topic: Topic) -> SenderSet? {
        for entry in entries where entry.topic == topic {
            if case .senderSet(let set) = entry.trusted { return set }
        }
        return nil
    }

    /// False where it is in the list already.
    mutating func add(_ trusted: Trusted, for topic: Topic, at now: Timestamp) throws(KeyringError) -> Bool {
        if entries.contains(where: { $0.topic == topic && $0.trusted == trusted }) { return false }
        if case .senderSet(let set) = trusted {
            do {
                try trustedSenders(for: topic).check(set, topic: topic, replacing: senderSet(for: topic), at: now)
            } catch { throw .record(error) }
            entries.removeAll { entry in
                guard case .senderSet = entry.trusted else { return false }
                return entry.topic == topic
            }
        }
        entries.append(Entry(topic: topic, trusted: trusted, added: now))
        return true
    }

    /// False where it is not in the list. An authority takes its sender set along.
    mutating func remove(_ trusted: Trusted, for topic: Topic) -> Bool {
        let count = entries.count
        entries.removeAll { entry in
            guard entry.topic == topic else { return false }
            if case .senderSet(let set) = entry.trusted, trusted == .authority(set.authority) { return true }
            return entry.trusted == trusted
        }
        return entries.count < count
    }
}

extension TrustList {
    /// Reads one paragraph of a keyring; false if it is not one of a trust list.
    mutating func read(_ file: borrowing TextFile, in paragraph: Int) -> Bool {
        guard let topic = file.text("topic", in: paragraph).flatMap(Topic.init(parsing:)),
            let added = file.moment("added", in: paragraph), file.names(in: paragraph).count == 3,
            let trusted = Self.trusted(file, in: paragraph)
        else { return false }
        entries.append(Entry(topic: topic, trusted: trusted, added: added))
        return true
    }

    private static func trusted(_ file: borrowing TextFile, in paragraph: Int) -> Trusted? {
        if let text = file.text("sender", in: paragraph) {
            return (try? SenderPublicKey(parsing: text)).map { .sender($0) }
        }
        if let text = file.text("authority", in: paragraph) {
            return (try? AuthorityPublicKey(parsing: text)).map { .authority($0) }
        }
        guard let text = file.text("senders", in: paragraph) else { return nil }
        return (try? SenderSet(parsing: text)).map { .senderSet($0) }
    }

    func write(to writer: inout TextFileWriter) {
        for entry in entries {
            writer.paragraph()
            writer.field("topic", entry.topic.description)
            switch entry.trusted {
            case .sender(let sender): writer.field("sender", sender.description)
            case .authority(let authority): writer.field("authority", authority.description)
            case .senderSet(let set): writer.field("senders", set.description)
            }
            writer.field("added", entry.added.iso8601)
        }
    }
}
