public import SealedPush

/// The device that the app runs on, and the life of its keys. For the app, never for its extension, which only reads.
///
/// Get one from ``ServiceConfiguration/device``. Each call reads and writes the keychain and syncs files, mostly for a few
/// milliseconds, and never on the main actor. Several tasks and processes may call at once, and a process may be killed at
/// any moment: its keys still open everything that they opened before, and the next call finishes the work.
/// Source: Specification 13.
public struct ThisDevice: Sendable {
    let device: OwnDevice

    /// Returns the record for the server, inside the app's own login; makes the enrollment key and the first key if there are
    /// none, and the ledger before them (Specification 7.11). The same record again until something changes.
    ///
    /// The server pins ``DeviceRecord/enrollment``, and believes later records by it. Call it before the server seals
    /// anything for this device.
    @concurrent public func enroll(at now: Timestamp = .now()) async throws(DeviceError) -> DeviceRecord {
        try device.enroll(at: now)
    }

    /// Does everything that is due in the life of the keys. Call it at each launch and once a day in the background.
    ///
    /// A new key under which the extension has opened a message is confirmed, and the older ones retire; keys that retired
    /// 31 days ago are destroyed; if the keychain has outlived the app's container, or the key in use is older than `age`,
    /// a new key is made; a record that ends within 60 days is signed again. The work of a killed process is finished; a
    /// device without keys gets its first. A missing ledger shows that a phone was restored from its own backup: it gets a
    /// new key, and a record that counts higher than those before.
    ///
    /// - Parameters:
    ///   - age: nil if keys are not to be rotated by age.
    ///   - known: the newest record that the server has of this device, if it has refused this device's newest as
    ///     `rolled-back` or `conflicting`: the new record counts higher. A server can't make one up, because this device's
    ///     own signature is checked.
    /// - Throws: `record(.foreignSigner)` or `record(.otherTopic)` if `known` isn't this device's for this app. The server
    ///   has then pinned another key: the account's owner must enroll the device as a new one.
    @concurrent public func maintain(
        rotatingOlderThan age: Duration? = nil, serverKnows known: DeviceRecord? = nil, at now: Timestamp = .now()
    ) async throws(DeviceError) -> DeviceMaintenance {
        try device.maintain(rotatingOlderThan: age, serverKnows: known, at: now)
    }

    /// Makes a new key beside the one in use, and returns the record of both, for the server. The new one is in use once a
    /// message has opened under it and ``maintain(rotatingOlderThan:serverKnows:at:)`` was called; until then both open.
    ///
    /// - Throws: `unconfirmed` while an earlier new key waits for its first message.
    @concurrent public func rotate(at now: Timestamp = .now()) async throws(DeviceError) -> DeviceRecord {
        try device.rotate(at: now)
    }

    /// Declares every key of this device stolen and destroys them; returns the record of a new one. Messages that were
    /// sealed to them never open again. This can't be undone. Hand the record to the server at once, or it goes on sealing
    /// to keys that are gone.
    ///
    /// The enrollment key stays. If that may be stolen too, the account's owner must enroll the device as a new one.
    @concurrent public func revoke(at now: Timestamp = .now()) async throws(DeviceError) -> DeviceRecord {
        try device.revoke(at: now)
    }

    /// Answers a server's challenge, which proves that this device holds the key it was sealed to.
    ///
    /// - Parameter text: `pushchallenge.…`, as the server sent it.
    /// - Returns: `pushanswer.…`, to be sent back within ten minutes.
    /// - Throws: as ``Challenge/answer(_:enrollment:topic:keys:trusting:)``; also `unknownRecipient` if the device was never
    ///   enrolled.
    @concurrent public func answer(
        challenge text: String, at now: Timestamp = .now()
    ) async throws(ChallengeError) -> String {
        try device.answer(challenge: text, at: now)
    }

    /// Takes a sender set that the server has handed over: from then on its senders are believed and no others.
    ///
    /// Nothing is believed because the server says so: one of ``ServiceConfiguration/authorities`` must have signed the set,
    /// for this app, and it must not be older than the one that the device has accepted. It is kept beside the keys, so an
    /// older set can't come back without them.
    ///
    /// - Parameter text: `pushrecord.…`; at most 10,939 characters.
    /// - Returns: the set, whose number (``SenderSet/counter``) the app may report; also if the device has it already.
    /// - Throws: `record` if it is refused; nothing has changed then.
    @discardableResult
    @concurrent public func accept(
        senderSet text: String, at now: Timestamp = .now()
    ) async throws(DeviceError) -> SenderSet {
        try device.accept(senderSet: text, at: now)
    }
}

extension ServiceConfiguration {
    /// This device, for the app.
    public var device: ThisDevice { ThisDevice(device: OwnDevice(self, environment: environment)) }
}
