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
    ///   server has then pinned another key: the account's owner must enroll the device as a new one.
    public func maintain(
        rotatingOlderThan age: Duration? = nil, serverKnows known: DeviceRecord? = nil, at now: Timestamp = .now()
    ) throws(DeviceError) -> DeviceMaintenance {
        // Kept across attempts: what was done before another process got in between is done.
        var done = DeviceMaintenance.Steps()
        let ledger = FileLedger(container: configuration.container, environment: environment)
        let lostLedger = try noticesLostLedger(ledger, at: now)
        let (record, rotation) = try change(at: now) { (change) throws(KeyChangeError) in
            try ensureKey(&change)
            try settle(&change, &done)
            try eraseWhatIsDue(&change) { done.erased.append($0) }
            let isDue = change.rotation.isRotationDue(olderThan: age?.components.seconds, at: now)
            if done.rotated == nil, lostLedger || isDue { done.rotated = try change.addKey() }
            // After a loss the server knows records that this device has forgotten, whether or not it makes a key now.
            return (try change.signRecord(above: known, anyway: lostLedger), change.rotation)
        }
        // Last, so that a process that is killed before makes one key too many rather than none.
        if lostLedger, done.rotated != nil { ledger?.newKeyWasMade() }
        return DeviceMaintenance(steps: done, record: record, rotation, at: now)
    }

    /// Whether the ledger was found missing, by the extension or now. Of the two the app may run first.
    private func noticesLostLedger(_ ledger: FileLedger?, at now: Timestamp) throws(DeviceError) -> Bool {
        guard let ledger else { return false }
        let hadKeys = try change(at: now) { (change) throws(KeyChangeError) in !change.rotation.members.isEmpty }
        if hadKeys, ledger.isMissing { try? ledger.begin(floor: now, asksForNewKey: true) }
        return ledger.asksForNewKey
    }

    /// Confirms the keys under which a message has opened, and retires those that they replace.
    private func settle(_ change: inout KeyChange, _ done: inout DeviceMaintenance.Steps) throws(KeyChangeError) {
        var rotation = change.rotation
        for waiting in rotation.active where waiting.life.confirmed == nil {
            guard let marked = markers?.time(of: waiting.key, at: change.now) else { continue }
            rotation.confirm(waiting.key, at: marked)
        }
        rotation.retireReplaced()
        try change.write(rotation) { recipient, before, after in
            if before.confirmed == nil, after.confirmed != nil { done.confirmed.append(recipient) }
            if after.state == .retired { done.retired.append(recipient) }
        }
    }

    /// Revoked keys at once, retired ones after 31 days.
    func eraseWhatIsDue(
        _ change: inout KeyChange, _ erased: (DevicePublicKey) -> Void
    ) throws(KeyChangeError) {
        for recipient in change.rotation.erasable(at: change.now) {
            try change.erase(recipient)
            markers?.remove(recipient)
            erased(recipient)
        }
    }

    private var markers: ConfirmationMarkers? {
        ConfirmationMarkers(container: configuration.container, environment: environment)
    }
}

/// What ``OwnDevice/maintain(rotatingOlderThan:serverKnows:at:)`` has done, and what there is to do for the app.
public struct DeviceMaintenance: Hashable, Sendable {
    /// New keys under which a message has opened: they are in use now.
    public let confirmed: [DevicePublicKey]
    /// Keys that open only what was sent until two hours after they retired.
    public let retired: [DevicePublicKey]
    /// Keys that are gone.
    public let erased: [DevicePublicKey]
    /// A new key that was made.
    public let rotated: DevicePublicKey?
    /// The newest record. Send it to the server unless that has this one: compare ``DeviceRecord/counter``.
    public let record: DeviceRecord
    /// Since when a new key has been waiting for its first message; nil where none does.
    public let waitingSince: Timestamp?
    /// Whether it has waited for more than 45 days: then the server probably never got the record.
    public let isOverdue: Bool

    struct Steps {
        var confirmed: [DevicePublicKey] = []
        var retired: [DevicePublicKey] = []
        var erased: [DevicePublicKey] = []
        var rotated: DevicePublicKey?
    }

    init(steps: Steps, record: DeviceRecord, _ rotation: KeyRotation<DevicePublicKey>, at now: Timestamp) {
        confirmed = steps.confirmed
        retired = steps.retired
        erased = steps.erased
        rotated = steps.rotated
        self.record = record
        waitingSince = rotation.unconfirmed?.life.created
        isOverdue = rotation.isOverdue(at: now)
    }
}
