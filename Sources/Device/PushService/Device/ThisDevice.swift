public import SealedPush

/// The device that the app runs on, and the life of its keys. For the app, never for its extension, which only reads them.
///
/// Get one from ``ServiceConfiguration/device``. Each call reads and writes the keychain and syncs files, usually within a
/// few milliseconds, and never on the main actor. Several tasks and processes may call at once, and a process may be killed
/// at any time. The keys still open what they opened before, and the next call finishes the work. Source: Specification 13.
public struct ThisDevice: Sendable {
    let device: OwnDevice

    /// Returns the record for the server, to send within the app's own login. Makes the enrollment key and the first key if
    /// there are none, and the ledger before them (DeviceState 32.7). The record stays the same until something changes.
    ///
    /// The server pins the record's `enrollment` to verify later records. Call this before the server seals to this device.
    @concurrent public func enroll(at now: Timestamp = .now()) async throws(DeviceError) -> DeviceRecord {
        try device.enroll(at: now)
    }

    /// Performs all key maintenance that is due. Call it at each launch and once a day in the background.
    ///
    /// A new key under which the extension has opened a message is confirmed, and the older keys are retired. Keys that
    /// were retired `keepsRetiredKeys` + 1 days ago are destroyed. If the keychain has outlived the app's container, or the
    /// key in use is older than `age`, a new key is created. A record that expires within 60 days is signed again.
    /// Interrupted work is finished, and a device without keys gets its first. A missing ledger means that a phone was
    /// restored from its own backup; it gets a new key, and a record with a higher counter than any before.
    ///
    /// - Parameters:
    ///   - age: The age at which a key is replaced; nil for no rotation by age.
    ///   - known: The newest record that the server has of this device, if it refused this device's newest as `rolled-back`
    ///     or `conflicting`. The new counter is higher. A server can't forge it: this device's signature is checked.
    ///   - now: The current time.
    /// - Throws: `record(.foreignSigner)` or `record(.otherTopic)` if `known` isn't this device's record for this app.
    ///   If so, the server has pinned another key, and the account's owner must enroll the device as a new one.
    @concurrent public func maintain(
        rotatingOlderThan age: Duration? = nil, serverKnows known: DeviceRecord? = nil, at now: Timestamp = .now()
    ) async throws(DeviceError) -> DeviceMaintenance {
        try device.maintain(rotatingOlderThan: age, serverKnows: known, at: now)
    }

    /// Creates a new key beside the one in use, and returns a record of both for the server. The new key takes over once a
    /// message opens under it and ``maintain(rotatingOlderThan:serverKnows:at:)`` is called; until then, both open.
    ///
    /// - Throws: `unconfirmed` while an earlier new key is waiting for its first message.
    @concurrent public func rotate(at now: Timestamp = .now()) async throws(DeviceError) -> DeviceRecord {
        try device.rotate(at: now)
    }

    /// Revokes every key of this device as stolen and destroys it; returns the record of a new key. Messages sealed to the
    /// old keys never open again. This can't be undone. Send the record to the server at once, or it seals to lost keys.
    ///
    /// The enrollment key doesn't change. If it may be stolen, too, the account's owner must enroll the device as new.
    @concurrent public func revoke(at now: Timestamp = .now()) async throws(DeviceError) -> DeviceRecord {
        try device.revoke(at: now)
    }

    /// Answers a server's challenge, which proves that this device holds the key to which it was sealed.
    ///
    /// - Parameters:
    ///   - text: The challenge, `pushchallenge.…`, as the server sent it.
    ///   - now: The current time.
    /// - Returns: The answer, `pushanswer.…`, to send back within ten minutes.
    /// - Throws: The errors of `Challenge.answer`; also `unknownRecipient` if the device was never enrolled.
    @concurrent public func answer(
        challenge text: String, at now: Timestamp = .now()
    ) async throws(ChallengeError) -> String {
        try device.answer(challenge: text, at: now)
    }

    /// Accepts a sender set from the server. From then on, its senders are trusted, and no others.
    ///
    /// One of ``ServiceConfiguration/authorities`` must have signed the set for this app, and it must not be older than the
    /// last one accepted; the server isn't trusted. It's stored with the keys, so neither can be rolled back alone.
    ///
    /// - Parameters:
    ///   - text: The set, `pushrecord.…`; at most 10,939 characters.
    ///   - now: The current time.
    /// - Returns: The set, even if the device already has it. The app may report its `counter`.
    /// - Throws: `record` if the set is refused; in that case, nothing changes.
    @discardableResult
    @concurrent public func accept(
        senderSet text: String, at now: Timestamp = .now()
    ) async throws(DeviceError) -> SenderSet {
        try device.accept(senderSet: text, at: now)
    }
}

extension ServiceConfiguration {
    /// The device that the app runs on.
    public var device: ThisDevice { ThisDevice(device: OwnDevice(self, environment: environment)) }
}
