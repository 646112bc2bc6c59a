public import SealedPush

extension ServiceConfiguration {
    /// Takes a sender set that the server has handed over: from here on its senders are believed and no others. For the app.
    ///
    /// Nothing is believed because the server says so: the set must be signed by one of ``authorities``, for this app, and
    /// not be older than the one that the device has accepted. Kept beside the keys, so that an older one can't come back
    /// without them. A few milliseconds.
    ///
    /// - Parameter text: `pushrecord.…`; at most 1,071 characters.
    /// - Returns: the set, whose number (``SenderSet/counter``) the app may report; also where the device has it already.
    /// - Throws: `record` where it is refused; nothing has changed then.
    @discardableResult
    public func accept(senderSet text: String, at now: Timestamp = .now()) throws(DeviceError) -> SenderSet {
        try device.accept(senderSet: text, at: now)
    }
}

extension OwnDevice {
    /// See ``ServiceConfiguration/accept(senderSet:at:)``.
    @discardableResult
    package func accept(senderSet text: String, at now: Timestamp) throws(DeviceError) -> SenderSet {
        let set: SenderSet
        do { set = try SenderSet(parsing: text) } catch { throw .record(error) }
        let trusted = configuration.trusted
        let topic = configuration.topic
        try change(at: now) { (change) throws(KeyChangeError) in
            let stored = change.stored.senderSets(for: topic)
            let pinned = stored.filter { trusted.authorities.contains($0.authority) }
            let known = StoredSenderSet.newest(of: pinned)
            let knownSet = try known.flatMap { (known) throws(KeyChangeError) in try change.set(known) }
            do throws(RecordError) {
                try trusted.check(set, topic: topic, replacing: knownSet, at: now)
                // Where the item is damaged, its name still tells the counter.
                if let known, knownSet == nil, set.counter <= known.counter { throw .rolledBack }
            } catch { throw .failed(.record(error)) }
            // First those of authorities that the app pins no more, as their counters must not stand in the way: a set of
            // theirs counts as none, so that takes nothing away.
            for old in stored where !trusted.authorities.contains(old.authority) { try change.remove(old.item) }
            if knownSet != set { try change.add(StoredSenderSet.item(set, accepted: now)) }
            // The one before stays until the next: an extension that lists the items just now may miss the new one, and without
            // any set it would believe the senders that are built in.
            for old in pinned where old.counter < min(known?.counter ?? 0, set.counter) { try change.remove(old.item) }
        }
        return set
    }
}
