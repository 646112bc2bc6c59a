internal import Foundation
internal import PushCore
public import SealedPush

/// The life of a device's keys: what ``ThisDevice`` calls off the main actor, each call blocking its thread.
package struct OwnDevice: Sendable {
    package let configuration: ServiceConfiguration
    package let environment: DeviceEnvironment

    package init(_ configuration: ServiceConfiguration, environment: DeviceEnvironment) {
        self.configuration = configuration
        self.environment = environment
    }

    /// Serializes this process's calls to a server about this device, so that the last call decides.
    var turn: Turns {
        let name = "\(configuration.topic) \(environment.root(configuration.container)?.path ?? "")"
        return Self.turns.withLock { turns in
            let turn = turns[name] ?? Turns(width: 1)
            turns[name] = turn
            return turn
        }
    }

    private static let turns = Locked<[String: Turns]>([:])

    package func enroll(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
        try change(at: now) { (change) throws(KeyChangeError) in
            try ensureKey(&change)
            return try change.signRecord()
        }
    }

    package func rotate(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
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

    package func revoke(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
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

    package func answer(challenge text: String, at now: Timestamp = .now()) throws(ChallengeError) -> String {
        let keys = DeviceKeys(configuration.keys.items(environment))
        let topic = configuration.topic
        let enrollment: EnrollmentPublicKey?
        let set: SenderSet?
        do {
            enrollment = try self.enrollment(at: now)
            set = try keys.senderSet(for: topic)
        } catch {
            let isLocked = error as? DeviceError == .locked || error as? KeyStoreError == .locked
            throw isLocked ? .locked : .keysUnavailable
        }
        guard let enrollment else { throw .unknownRecipient }
        let senders = configuration.trusted.senders(following: set, topic: topic, at: now)
        return try Challenge.answer(text, enrollment: enrollment, topic: topic, keys: keys, trusting: senders)
    }
}

extension OwnDevice {
    /// Nil where the device was never enrolled, or the key is damaged.
    func enrollment(at now: Timestamp) throws(DeviceError) -> EnrollmentPublicKey? {
        try change(at: now) { (change) throws(KeyChangeError) in try change.enrollmentKey()?.enrollment }
    }

    /// Makes sure that nothing opens any more that was sent so far, even if a key should come back; returns the word to the
    /// server that this device leaves. Source: EnrollmentHTTP 6.
    func leaveAccount(at now: Timestamp) throws(DeviceError) -> Leaving {
        let ledger = environment.folder(configuration.container).map(FileLedger.init(in:))
        // As with a first key: what is sent to the next account within this second opens.
        do { try ledger?.begin(floor: now.advanced(bySeconds: -1), asksForNewKey: false) } catch { throw .noLedger }
        // Whoever hands this record over does so in a turn of its own, after the leaving.
        let record = try revoke(at: now)
        return try change(at: now) { (change) throws(KeyChangeError) in
            guard let key = try change.enrollmentKey() else { throw .raced }
            return Leaving(counter: record.counter, topic: configuration.topic, signedBy: key)
        }
    }

    /// Makes a key where none is active.
    func ensureKey(_ change: inout KeyChange) throws(KeyChangeError) {
        guard change.rotation.active.isEmpty else { return }
        if change.rotation.members.isEmpty {
            do throws(DeviceError) {
                try FileLedger.begin(in: configuration.container, environment: environment, at: change.now)
            } catch { throw .failed(error) }
        }
        _ = try change.addKey()
    }

    /// Runs an act, from its beginning again where another process got in between.
    func change<Answer>(
        at now: Timestamp, _ body: (inout KeyChange) throws(KeyChangeError) -> Answer
    ) throws(DeviceError) -> Answer {
        guard let items = configuration.keys.items(environment) else {
            throw .unavailable("there is no keychain outside Apple's systems")
        }
        for _ in 1...Self.attemptCount {
            do throws(KeyChangeError) {
                var change = try KeyChange(items, configuration, at: now)
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

    private static let attemptCount = 16
}

/// Where a device's keys are. App and extension name the same.
///
/// There is one place for them, since what reads keys must be what changes them: Docs/Decisions/0034-keys-in-the-keychain.md.
public struct KeySource: Sendable {
    /// Nil where the device has no keychain.
    let items: @Sendable (DeviceEnvironment) -> (any SecretItems)?

    /// Apple's keychain, in the access group that app and extension share, with the team's prefix
    /// (`ABCDE12345.com.example.shared`). In the simulator: the simulated phone's.
    public static func keychain(accessGroup: String) -> KeySource { KeySource { $0.keychain(accessGroup) } }

    /// These, on whatever device. For tests.
    package static func items(_ items: any SecretItems) -> KeySource { KeySource { _ in items } }
}

/// Why an app could not do something with its device's keys. Never holds a secret.
public enum DeviceError: Error, Equatable, Sendable {
    /// The device has not been unlocked since it started; later it will work.
    case locked
    /// The keychain failed in another way, or there is none. The text says what.
    case unavailable(String)
    /// The system knows no such app group: check both targets' entitlements.
    case noContainer
    /// The ledger can't be written, and without it no first key is made.
    case noLedger
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
        case .noContainer: "the system knows no such app group: check both targets' entitlements"
        case .noLedger: "the ledger can't be written"
        case .unconfirmed: "a new key waits for its first message; until then there is no further one"
        case .record(let error): error.description
        }
    }
}

extension OwnDevice {
    @discardableResult
    package func accept(senderSet text: String, at now: Timestamp = .now()) throws(DeviceError) -> SenderSet {
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
            if knownSet != set { try change.add(StoredSenderSet.item(set)) }
            // The one before stays until the next: an extension that lists the items just now may miss the new one, and without
            // any set it would believe the senders that are built in.
            for old in pinned where old.counter < min(known?.counter ?? 0, set.counter) { try change.remove(old.item) }
        }
        return set
    }
}

extension OwnDevice {
    package func maintain(
        rotatingOlderThan age: Duration? = nil, serverKnows known: DeviceRecord? = nil, at now: Timestamp = .now()
    ) throws(DeviceError) -> DeviceMaintenance {
        // Kept across attempts: what was done before another process got in between is done.
        var done = DeviceMaintenance.Steps()
        let ledger = environment.folder(configuration.container).map(FileLedger.init(in:))
        let lostLedger = try noticesLostLedger(ledger, at: now)
        let (record, rotation) = try change(at: now) { (change) throws(KeyChangeError) in
            try ensureKey(&change)
            try settle(&change, &done)
            try eraseWhatIsDue(&change) { done.erased.append($0) }
            let isDue =
                change.rotation.isRotationDue(olderThan: age?.components.seconds, at: now)
                || change.rotation.active.first?.key.algorithm != configuration.keyPolicy.algorithm
            if done.rotated == nil, lostLedger || isDue { done.rotated = try change.addKey() }
            // After a loss the server knows records that this device has forgotten, whether or not it makes a key now.
            return (try change.signRecord(above: known, anyway: lostLedger), change.rotation)
        }
        // Last, so that a process that is killed before makes one key too many rather than none.
        if lostLedger, done.rotated != nil { ledger?.newKeyWasMade() }
        return DeviceMaintenance(
            steps: done, record: record, waitingSince: rotation.unconfirmed?.life.created,
            isOverdue: rotation.isOverdue(at: now))
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

    /// Revoked keys at once, retired ones a day after the last push that they open may arrive. If the app takes only hybrid
    /// keys, its other retired ones at once.
    func eraseWhatIsDue(_ change: inout KeyChange, _ erased: (DevicePublicKey) -> Void) throws(KeyChangeError) {
        let isHybridOnly = configuration.keyPolicy == .hybridOnly
        let due = change.rotation.erasable(keeping: configuration.keepsRetiredKeys, at: change.now) {
            isHybridOnly && !$0.isHybrid
        }
        for recipient in due {
            try change.erase(recipient)
            markers?.remove(recipient)
            erased(recipient)
        }
    }

    private var markers: ConfirmationMarkers? {
        environment.folder(configuration.container).map(ConfirmationMarkers.init(in:))
    }
}

/// The work that ``ThisDevice/maintain(rotatingOlderThan:serverKnows:at:)`` did, and the record to hand to the server.
public struct DeviceMaintenance: Hashable, Sendable {
    let steps: Steps
    /// New keys under which a message has opened: they are in use now.
    public var confirmed: [DevicePublicKey] { steps.confirmed }
    /// Keys that open only what was sent until two hours after they retired.
    public var retired: [DevicePublicKey] { steps.retired }
    /// Keys that are gone.
    public var erased: [DevicePublicKey] { steps.erased }
    /// A new key that was made.
    public var rotated: DevicePublicKey? { steps.rotated }
    /// The newest record. Send it to the server unless that has this one: compare ``DeviceRecord/counter``.
    public let record: DeviceRecord
    /// Since when a new key has been waiting for its first message; nil where none does.
    public let waitingSince: Timestamp?
    /// Whether it has waited for more than 45 days: then the server probably never got the record.
    public let isOverdue: Bool

    struct Steps: Hashable {
        var confirmed: [DevicePublicKey] = []
        var retired: [DevicePublicKey] = []
        var erased: [DevicePublicKey] = []
        var rotated: DevicePublicKey?
    }
}
