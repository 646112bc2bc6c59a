internal import Foundation
public import SealedPush

/// The device that the app runs on, and the life of its keys. For the app, never for its extension, which only reads.
///
/// Get one from ``ServiceConfiguration/device``. Each call reads and writes the keychain, a few milliseconds; call it off
/// the main thread. Several threads and processes may call at once, and a process may be killed at any moment: what it had
/// begun opens what it opened before, and the next call finishes it. Source: Specification 13.
public struct OwnDevice: Sendable {
    let configuration: ServiceConfiguration
    let environment: DeviceEnvironment

    package init(_ configuration: ServiceConfiguration, environment: DeviceEnvironment) {
        self.configuration = configuration
        self.environment = environment
    }

    /// The record to hand to the server inside the app's own login: makes the enrollment key and the first key where there
    /// are none, and the ledger before them (Specification 7.11). The same record again until something changes.
    ///
    /// The server pins ``DeviceRecord/enrollment``, and believes later records by it. Call it before the server seals
    /// anything for this device.
    public func enroll(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
        try change(at: now) { (change) throws(KeyChangeError) in
            try ensureKey(&change)
            return try change.signRecord()
        }
    }

    /// Makes a new key beside the one in use, and returns the record of both, for the server. The new one is in use once a
    /// message has opened under it and ``maintain(rotatingOlderThan:serverKnows:at:)`` was called; until then both open.
    ///
    /// - Throws: `unconfirmed` while an earlier new key waits for its first message.
    public func rotate(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
        // Where this begins again, the new key that waits is its own.
        var isAdded = false
        return try change(at: now) { (change) throws(KeyChangeError) in
            if !isAdded {
                guard change.rotation.unconfirmed == nil else { throw .failed(.unconfirmed) }
                try ensureKey(&change)
                isAdded = try change.addKey() != nil
                guard isAdded else { throw .failed(.unconfirmed) }
            }
            return try change.signRecord()
        }
    }

    /// Declares every key of this device stolen: they are destroyed, and a new one takes their place. What was sealed to
    /// them never opens again. Can't be undone. Hand the record to the server at once, or it seals to keys that are gone.
    ///
    /// The enrollment key stays. Where that may be stolen too, the account's owner must enroll the device anew.
    public func revoke(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
        // Told from the new key by name, as this may begin again.
        var revoked: Set<DevicePublicKey>?
        return try change(at: now) { (change) throws(KeyChangeError) in
            var rotation = change.rotation
            let all = revoked ?? Set(rotation.members.map(\.key))
            revoked = all
            for recipient in all { rotation.revoke(recipient, at: now) }
            try change.write(rotation)
            try ensureKey(&change)
            let record = try change.signRecord()
            try eraseWhatIsDue(&change) { _ in }
            return record
        }
    }

    /// Answers a server's challenge, which proves that this device holds the key it was sealed to.
    ///
    /// - Parameter text: `pushchallenge.…`, as the server sent it.
    /// - Returns: `pushanswer.…`, to be sent back within ten minutes.
    /// - Throws: as ``Challenge/answer(_:enrollment:topic:keys:trusting:)``; `unknownRecipient` too where the device was
    ///   never enrolled.
    public func answer(challenge text: String, at now: Timestamp = .now()) throws(ChallengeError) -> String {
        let topic = configuration.topic
        let enrollment: EnrollmentPublicKey
        let senders: [SenderPublicKey]
        let keys: DeviceKeys
        do {
            keys = DeviceKeys(try items())
            let key = try change(at: now) { (change) throws(KeyChangeError) in try change.enrollmentKey() }
            guard let key else { throw ChallengeError.unknownRecipient }
            enrollment = key.enrollment
            senders = configuration.trusted.senders(following: try keys.senderSet(for: topic), topic: topic, at: now)
        } catch let error as ChallengeError {
            throw error
        } catch {
            let isLocked = error as? DeviceError == .locked || error as? KeyStoreError == .locked
            throw isLocked ? .locked : .keysUnavailable
        }
        return try Challenge.answer(text, enrollment: enrollment, topic: topic, keys: keys, trusting: senders)
    }
}

extension OwnDevice {
    /// Makes a key where none is active.
    func ensureKey(_ change: inout KeyChange) throws(KeyChangeError) {
        guard change.rotation.active.isEmpty else { return }
        if change.rotation.members.isEmpty {
            do throws(FileLedgerError) {
                try FileLedger.begin(in: configuration.container, environment: environment, at: change.now)
            } catch { throw .failed(.ledger(error)) }
        }
        _ = try change.addKey()
    }

    /// Runs an act, from its beginning again where another process got in between.
    func change<Answer>(
        at now: Timestamp, _ body: (inout KeyChange) throws(KeyChangeError) -> Answer
    ) throws(DeviceError) -> Answer {
        let items = try items()
        for _ in 1...Self.attemptCount {
            do throws(KeyChangeError) {
                var change = try KeyChange(items, topic: configuration.topic, at: now)
                return try body(&change)
            } catch {
                switch error {
                case .raced: continue
                case .failed(let error): throw error
                }
            }
        }
        throw .unavailable("another process keeps changing the keys")
    }

    private func items() throws(DeviceError) -> any SecretItems {
        guard let items = environment.items(configuration.keys) else {
            throw .unavailable("there is no keychain outside Apple's systems")
        }
        return items
    }

    private static let attemptCount = 16
}

extension ServiceConfiguration {
    /// This device, for the app.
    public var device: OwnDevice { OwnDevice(self, environment: .system) }
}

/// Where a device's keys are. App and extension name the same.
///
/// There is one place for them, since what reads keys must be what changes them: Docs/Decisions/0034-keys-in-the-keychain.md.
public struct KeySource: Sendable {
    let place: Place

    enum Place: Sendable {
        case keychain(accessGroup: String)
        case items(any SecretItems)
    }

    /// Apple's keychain, in the access group that app and extension share, with the team's prefix
    /// (`ABCDE12345.com.example.shared`). In the simulator: the simulated phone's.
    public static func keychain(accessGroup: String) -> KeySource {
        KeySource(place: .keychain(accessGroup: accessGroup))
    }

    /// These, on whatever device. For tests.
    package static func items(_ items: any SecretItems) -> KeySource { KeySource(place: .items(items)) }
}

/// Why an app could not do something with its device's keys. Never holds a secret.
public enum DeviceError: Error, Equatable, Sendable {
    /// The device has not been unlocked since it started; later it will work.
    case locked
    /// The keychain failed in another way, or there is none. The text says what.
    case unavailable(String)
    /// The ledger could not be begun, and without it no first key is made.
    case ledger(FileLedgerError)
    /// A new key waits for its first message; until then there is no further one.
    case unconfirmed
    /// A sender set was refused, or a record could not be signed.
    case record(RecordError)
}

extension DeviceError: CustomStringConvertible {
    /// One sentence for the app's own log.
    public var description: String {
        switch self {
        case .locked: "the keys can't be read until the device has been unlocked once"
        case .unavailable(let text): text
        case .ledger(.noContainer): "the system knows no such app group: check both targets' entitlements"
        case .ledger(.notWritable): "the ledger can't be written"
        case .unconfirmed: "a new key waits for its first message; until then there is no further one"
        case .record(let error): error.description
        }
    }
}
