public import SealedPush

extension Keyring {
    /// Signs an app's sender set with an authority's key; its counter rises with each.
    ///
    /// - Parameters:
    ///   - senders: 1 to 16, none twice, newest first. Devices then believe these and no others.
    ///   - lifetime: seconds for which devices believe it.
    public func signSenderSet(
        of senders: [Sender], topic: Topic, by name: KeyName, lifetime: Int64, at now: Timestamp = .now()
    ) throws(KeyringError) -> SenderSet {
        try change(at: now) { (change) throws(KeyringError) in
            var file = try change.file(name)
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
    public func activeSenders(named name: KeyName) throws(KeyringError) -> [Sender] {
        try unlocked { (key) throws(KeyringError) in
            let file = try load(name, under: key)
            guard file.kind == .sender else { throw .wrongKind(name, expected: .sender) }
            return file.keys.filter { $0.life.state == .active }.compactMap(\.sender)
        }
    }
}
