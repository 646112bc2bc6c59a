public import SealedPush

extension Keyring {
    /// Whom this keyring's devices believe; authentic, where the keyring is sealed.
    public func trustList() throws(KeyringError) -> TrustList { try vault.read(.full).contents.trust }

    /// Believes a sender, pins an authority, or takes a sender set of one that is pinned; false where that was so.
    ///
    /// - Throws: `record`, where a set is refused: foreign, expired, older than the one that is known.
    @discardableResult
    public func trust(
        _ trusted: TrustList.Trusted, for topic: Topic, at now: Timestamp = .now()
    ) throws(KeyringError) -> Bool {
        try changeTrust(.trusted, trusted, at: now) { (list) throws(KeyringError) in
            try list.add(trusted, for: topic, at: now)
        }
    }

    /// Believes it no more; false where it was not in the list.
    @discardableResult
    public func distrust(
        _ trusted: TrustList.Trusted, for topic: Topic, at now: Timestamp = .now()
    ) throws(KeyringError) -> Bool {
        try changeTrust(.distrusted, trusted, at: now) { (list) throws(KeyringError) in
            list.remove(trusted, for: topic)
        }
    }

    private func changeTrust(
        _ event: AuditEntry.Event, _ trusted: TrustList.Trusted, at now: Timestamp,
        _ body: (inout TrustList) throws(KeyringError) -> Bool
    ) throws(KeyringError) -> Bool {
        try change(at: now) { (change) throws(KeyringError) in
            guard try body(&change.contents.trust) else { return false }
            change.note(event, nil, trusted.publicKey)
            return true
        }
    }
}

extension TrustList.Trusted {
    /// For the log.
    var publicKey: AnyPublicKey {
        switch self {
        case .sender(let sender): .sender(sender)
        case .authority(let authority): .authority(authority)
        case .senderSet(let set): .authority(set.authority)
        }
    }
}

extension Keyring {
    /// Signs an app's sender set with an authority's key; its counter rises with each.
    ///
    /// - Parameters:
    ///   - senders: 1 to 16, none twice, newest first. Devices then believe these and no others.
    ///   - lifetime: seconds for which devices believe it.
    public func signSenderSet(
        of senders: [SenderPublicKey], topic: Topic, by name: KeyName, lifetime: Int64, at now: Timestamp = .now()
    ) throws(KeyringError) -> SenderSet {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.keys(name)
            guard file.kind == .authority else { throw .wrongKind(name, expected: .authority) }
            guard file.isOwn else { throw .noSecret(name) }
            guard let stored = file.newest, let key = stored.secretText?.authorityKey else {
                throw .notUsable(name, file.keys[0].life.state)
            }
            let counter = RecordCounter.next(after: file.counter, at: now)
            let set: SenderSet
            do throws(RecordError) {
                set = try SenderSet(
                    of: senders, topic: topic, counter: counter, created: now,
                    expires: now.advanced(bySeconds: lifetime), signedBy: key)
            } catch { throw .record(error) }
            file.counter = counter
            change.save(file, as: name)
            change.note(.signed, name, stored.key)
            return set
        }
    }

    /// The public keys that a name's senders seal with now or next: what a sender set should hold.
    public func activeSenders(named name: KeyName) throws(KeyringError) -> [SenderPublicKey] {
        let file = try keys(of: name)
        guard file.kind == .sender else { throw .wrongKind(name, expected: .sender) }
        return file.keys.filter { $0.life.state == .active }.compactMap(\.sender)
    }
}
