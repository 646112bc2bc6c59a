public import SealedPush

extension OwnDevice {
    /// Does what is due in the life of the keys. Call it at each launch and, say, once a day in the background.
    ///
    /// A new key under which the extension has opened a message is confirmed, and the older ones retire; keys that retired
    /// 31 days ago are destroyed; where the keychain has outlived the app's container, or the key in use is older than
    /// `age`, a new key is made; a record that ends within 60 days is signed anew. What a killed process left undone is
    /// done too; a device without keys gets its first. A phone that was put back from its own backup is noticed by its
    /// missing ledger; it gets a new key, and a record that counts higher than those before.
    ///
    /// - Parameters:
    ///   - age: nil where keys are not to be rotated by age.
    ///   - known: the newest record that the server has of this device, where it has refused this device's newest as
    ///     `rolled-back` or `conflicting`: then one is signed that counts higher. A server can't make one up, as it is this
    ///     device's own signature that is believed.
    /// - Throws: `record(.foreignSigner)` or `record(.otherTopic)` where `known` is not this device's for this app. The
    ///   server has then pinned another key: the account's owner must enrol the device as a new one.
    public func maintain(
        rotatingOlderThan age: Duration? = nil, serverKnows known: DeviceRecord? = nil, at now: Timestamp = .now()
    ) throws(DeviceError) -> DeviceMaintenance {
        // Kept across attempts: what was done before another process got in between is done.
        var done = DeviceMaintenance.Steps()
        let ledger = FileLedger(container: configuration.container, environment: environment)
        let lostLedger = try noticesLostLedger(ledger, at: now)
        let (record, waiting) = try change(at: now) { (change) throws(KeyChangeError) in
            try ensureKey(&change)
            try confirm(&change, &done)
            try retire(&change, &done)
            try eraseWhatIsDue(&change) { done.erased.append($0) }
            if change.unconfirmed == nil, done.rotated == nil,
                lostLedger || isOld(change.activeKeys.first, age, at: now)
            {
                done.rotated = try change.addKey()
            }
            // After a loss the server knows records that this device has forgotten, whether or not it makes a key now.
            return (try change.signRecord(above: known, anyway: lostLedger), change.unconfirmed?.life.created)
        }
        // Last, so that a process that is killed before makes one key too many rather than none.
        if lostLedger, done.rotated != nil { ledger?.newKeyWasMade() }
        return DeviceMaintenance(steps: done, record: record, waitingSince: waiting, at: now)
    }

    /// Whether the ledger was found missing, by the extension or now. Of the two the app may run first.
    private func noticesLostLedger(_ ledger: FileLedger?, at now: Timestamp) throws(DeviceError) -> Bool {
        guard let ledger else { return false }
        let hadKeys = try change(at: now) { (change) throws(KeyChangeError) in !change.keys.isEmpty }
        if hadKeys, ledger.isMissing { try? ledger.begin(floor: now, asksForNewKey: true) }
        return ledger.asksForNewKey
    }

    private func confirm(_ change: inout KeyChange, _ done: inout DeviceMaintenance.Steps) throws(KeyChangeError) {
        guard let markers else { return }
        for key in change.activeKeys where key.life.confirmed == nil {
            guard let marked = markers.time(of: key.recipient, at: change.now) else { continue }
            try change.change(key) { $0.confirm(at: max(marked, key.life.created)) }
            done.confirmed.append(key.recipient)
        }
    }

    /// All that are older than the newest one in use, as of the moment when that came into use.
    private func retire(_ change: inout KeyChange, _ done: inout DeviceMaintenance.Steps) throws(KeyChangeError) {
        let active = change.activeKeys
        guard let index = active.firstIndex(where: { $0.life.confirmed != nil }),
            let moment = active[index].life.confirmed
        else { return }
        for older in active[(index + 1)...] {
            try change.change(older) { $0.retire(at: moment) }
            done.retired.append(older.recipient)
        }
    }

    /// Revoked keys at once, retired ones after 31 days.
    func eraseWhatIsDue(
        _ change: inout KeyChange, _ erased: (Recipient) -> Void
    ) throws(KeyChangeError) {
        for key in change.keys {
            let isDue = key.life.erasureDue.map { change.now >= $0 } ?? (key.life.state == .revoked)
            guard isDue else { continue }
            try change.erase(key)
            markers?.remove(key.recipient)
            erased(key.recipient)
        }
    }

    private func isOld(_ key: StoredKey?, _ age: Duration?, at now: Timestamp) -> Bool {
        guard let key, let age else { return false }
        return now.seconds(since: key.life.created) >= age.components.seconds
    }

    private var markers: ConfirmationMarkers? {
        ConfirmationMarkers(container: configuration.container, environment: environment)
    }
}

/// What ``OwnDevice/maintain(rotatingOlderThan:serverKnows:at:)`` has done, and what there is to do for the app.
public struct DeviceMaintenance: Hashable, Sendable {
    /// New keys under which a message has opened: they are in use now.
    public let confirmed: [Recipient]
    /// Keys that open only what was sent until two hours after they retired.
    public let retired: [Recipient]
    /// Keys that are gone.
    public let erased: [Recipient]
    /// A new key that was made.
    public let rotated: Recipient?
    /// The newest record. Send it to the server unless that has this one: compare ``DeviceRecord/counter``.
    public let record: DeviceRecord
    /// Since when a new key has been waiting for its first message; nil where none does.
    public let waitingSince: Timestamp?
    /// Whether it has waited for more than 45 days: then the server probably never got the record.
    public let isOverdue: Bool

    struct Steps {
        var confirmed: [Recipient] = []
        var retired: [Recipient] = []
        var erased: [Recipient] = []
        var rotated: Recipient?
    }

    init(steps: Steps, record: DeviceRecord, waitingSince: Timestamp?, at now: Timestamp) {
        confirmed = steps.confirmed
        retired = steps.retired
        erased = steps.erased
        rotated = steps.rotated
        self.record = record
        self.waitingSince = waitingSince
        isOverdue = waitingSince.map { now.seconds(since: $0) > RotationRules.confirmationWarning } ?? false
    }
}
