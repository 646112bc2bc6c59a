public import SealedPush

extension ServiceConfiguration {
    /// Takes a sender set that the server has handed over: from here on its senders are believed and no others. For the app.
    ///
    /// Nothing is believed because the server says so: the set must be signed by one of ``authorities``, for this app, and
    /// not be older than any that this device has accepted of that authority. Kept beside the keys, so that an older one
    /// can't come back without them. About a millisecond.
    ///
    /// - Parameter text: `pushrecord.…`; at most 1,071 characters.
    /// - Returns: false where the device has it already.
    /// - Throws: `record` where it is refused; nothing has changed then.
    @discardableResult
    public func accept(senderSet text: String, at now: Timestamp = .now()) throws(DeviceError) -> Bool {
        let set: SenderSet
        do { set = try SenderSet(parsing: text) } catch { throw .record(error) }
        return try device.accept(set, at: now)
    }
}

extension OwnDevice {
    func accept(_ set: SenderSet, at now: Timestamp) throws(DeviceError) -> Bool {
        let trusted = configuration.trusted
        let topic = configuration.topic
        return try change(at: now) { (change) throws(KeyChangeError) in
            let stored = change.stored.senderSets(for: topic)
            let known = stored.filter { $0.authority == set.authority }.max { $0.counter < $1.counter }
            do throws(RecordError) {
                try trusted.check(set, topic: topic, replacing: known?.set, at: now)
                // The name tells the counter of one that is damaged, too.
                if let known, known.set == nil, set.counter <= known.counter { throw .rolledBack }
            } catch { throw .failed(.record(error)) }
            let isNew = known?.set != set
            if isNew { try change.add(StoredSenderSet.item(set, accepted: now)) }
            // Also those of authorities that the app pins no more: a set of theirs is none.
            for old in stored
            where old.authority == set.authority
                ? old.counter < set.counter : !trusted.authorities.contains(old.authority)
            {
                try change.remove(old.item)
            }
            return isNew
        }
    }
}
