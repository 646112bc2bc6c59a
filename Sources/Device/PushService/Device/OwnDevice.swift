internal import Foundation
internal import PushCore
package import SealedPush

/// The life of a device's keys: enrolled, confirmed, replaced, retired, erased. ``ThisDevice`` is its public face, for apps.
///
/// A device has a key that signs, for as long as the app is installed, and keys that open messages, which change. Each call
/// here changes some of them and returns a ``DeviceRecord``, the signed list for the server. Where the record goes is up to
/// the caller, such as ``PushServerClient``.
///
/// A key's life, and who moves it on:
/// 1. ``enroll(at:)`` creates the first key. The server seals to it once it has the record, and proves with a challenge that
///    the device really has the key; ``answer(challenge:at:)`` answers.
/// 2. A message opens under the key. The extension leaves a marker, since it may not change keys itself.
/// 3. ``maintain(rotatingOlderThan:serverKnows:at:)``, at each start of the app, reads the markers. It confirms the key, and
///    retires the one that it replaces. It also adds the next key when that is due.
/// 4. A retired key still opens messages that were sent before, for as long as the app keeps such keys. Then `maintain`
///    erases it.
/// 5. ``revoke(at:)`` ends all of that at once, after a theft: the keys open nothing anymore. The logout does the same, and
///    raises the ledger's floor, so that not even a restored key opens an old message.
///
/// These hold at each moment, even if the process is killed between two writes:
/// - The device has a key that the server may seal to. A new key never replaces one before a message has opened under it.
/// - Records have ascending counters, so a server can tell the newest. If the ledger was lost, the next record has a new key.
/// - At worst, there is one key too many, never one too few.
///
/// The app and its extension share the keychain without a lock that spans both. So each call reads the items anew, and works on
/// a `KeyChange` that notices interference. In that case, the call starts over, at most 16 times. Server calls about the same
/// device take turns; see `turn`.
///
/// A value holds no keys and is free to copy. Each call blocks its thread for some milliseconds, for the keychain.
package struct OwnDevice: Sendable {
    package let configuration: ServiceConfiguration
    package let environment: DeviceEnvironment

    package init(_ configuration: ServiceConfiguration, environment: DeviceEnvironment) {
        self.configuration = configuration
        self.environment = environment
    }

    /// Serializes this process's calls to a server about this device, so that the last call wins.
    var turn: TaskSemaphore {
        let name = "\(configuration.topic) \(environment.folder(configuration.container)?.path ?? "")"
        return Self.turns.withLock { turns in
            let turn = turns[name] ?? TaskSemaphore(1)
            turns[name] = turn
            return turn
        }
    }

    private static let turns = Locked<[String: TaskSemaphore]>([:])

    package func enroll(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
        try change(at: now) { (change) throws(KeyChangeError) in
            try ensureKey(&change)
            return try change.signRecord()
        }
    }

    package func rotate(at now: Timestamp = .now()) throws(DeviceError) -> DeviceRecord {
        // If this starts over, the waiting new key is the one that it added.
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
        // Remembered, to tell them from the new key if this starts over.
        var revoked: Set<DevicePublicKey>?
        return try change(at: now) { (change) throws(KeyChangeError) in
            var rotation = change.rotation
            let all = revoked ?? Set(rotation.members.map(\.key))
            revoked = all
            for recipient in all { rotation.revoke(recipient, at: now) }
            try change.write(rotation)
            try ensureKey(&change)
            try eraseWhatIsDue(&change) { _ in }
            return try change.signRecord()
        }
    }

    package func answer(challenge text: String, at now: Timestamp = .now()) throws(ChallengeError) -> String {
        let keys = DeviceKeys(configuration.keys.items(environment))
        let topic = configuration.topic
        let enrollment: EnrollmentPublicKey?
        let set: SenderSet?
        do {
            enrollment = try self.enrollment(at: now)
            set = try keys.senderSet(for: topic, of: configuration.trusted.authorities)
        } catch {
            let isLocked = error as? DeviceError == .locked || error as? KeyStoreError == .locked
            throw isLocked ? .locked : .keysUnavailable
        }
        guard let enrollment else { throw .unknownRecipient }
        let trusted = configuration.trusted(adding: environment.senders)
        let senders = trusted.senders(following: set, topic: topic, at: now)
        return try Challenge.answer(text, enrollment: enrollment, topic: topic, keys: keys, trusting: senders)
    }
}

extension OwnDevice {
    /// Returns nil if the device was never enrolled, or the key is damaged.
    func enrollment(at now: Timestamp) throws(DeviceError) -> EnrollmentPublicKey? {
        try change(at: now) { (change) throws(KeyChangeError) in try change.enrollmentKey()?.enrollment }
    }

    /// Makes sure that no message sent so far opens again, even if a key comes back. Returns the signed notice for the
    /// service that this device is leaving. Source: EnrollmentHTTP 6.
    func leaveAccount(of service: ServiceName? = nil, at now: Timestamp) throws(DeviceError) -> Leaving {
        let ledger = environment.folder(configuration.container).map(FileLedger.init(in:))
        // As with a first key, a message sent to the next account within this second opens.
        do { try ledger?.begin(floor: now.advanced(bySeconds: -1), asksForNewKey: false) } catch { throw .noLedger }
        // A caller that hands this record over does so in its own turn, after the leaving.
        let counter: UInt64
        do throws(DeviceError) { counter = try revoke(at: now).counter } catch {
            guard error == .counterExhausted else { throw error }
            counter = Leaving.maximumCounter
        }
        return try change(at: now) { (change) throws(KeyChangeError) in
            guard let key = try change.enrollmentKey() else { throw .raced }
            return Leaving(counter: counter, topic: configuration.topic, service: service, signedBy: key)
        }
    }

    /// Removes the enrollment key and its counter; the next record has a new key. For an account that was left.
    func forgetEnrollment(at now: Timestamp) throws(DeviceError) {
        try change(at: now) { (change) throws(KeyChangeError) in try change.forgetEnrollment() }
    }

    /// Makes a key if none is active.
    func ensureKey(_ change: inout KeyChange) throws(KeyChangeError) {
        guard change.rotation.active.isEmpty else { return }
        if change.rotation.members.isEmpty {
            do throws(DeviceError) {
                try FileLedger.begin(in: configuration.container, environment: environment, at: change.now)
            } catch { throw .failed(error) }
        }
        _ = try change.addKey()
    }

    /// Runs an operation, and starts it over if another process interfered.
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
        throw .unavailable("another process keeps changing the keys; try again later")
    }

    private static let attemptCount = 16
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
                // If the item is damaged, its name still contains the counter.
                if let known, knownSet == nil, set.counter <= known.counter { throw .rolledBack }
            } catch { throw .failed(.record(error)) }
            if knownSet != set { try change.add(StoredSenderSet.item(set)) }
            // The other authorities' sets stay: one of them counts again if an app update unpins this authority. The
            // previous set of this one stays until the next: an extension that is listing the items may miss the new one,
            // and without any set it would trust the built-in senders.
            let replaced = pinned.filter { $0.authority == set.authority }
            let previous = StoredSenderSet.newest(of: replaced)?.counter ?? 0
            for old in replaced where old.counter < min(previous, set.counter) { try change.remove(old.item) }
            // A set of an authority that the app no longer pins doesn't count, so this loses nothing.
            for old in stored where !trusted.authorities.contains(old.authority) { try change.remove(old.item) }
        }
        return set
    }
}

extension OwnDevice {
    package func maintain(
        rotatingOlderThan age: Duration? = nil, serverKnows known: DeviceRecord? = nil, at now: Timestamp = .now()
    ) throws(DeviceError) -> DeviceMaintenance {
        // Kept across attempts, because work done before another process interfered stays done.
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
            // After a loss, the server has records that this device lost, whether or not it creates a key now.
            return (try change.signRecord(above: known, anyway: lostLedger), change.rotation)
        }
        // Last, so that a process killed before this makes one key too many rather than none.
        if lostLedger, done.rotated != nil { ledger?.newKeyWasMade() }
        return DeviceMaintenance(
            steps: done, record: record, waitingSince: rotation.unconfirmed?.life.created,
            isOverdue: rotation.isOverdue(at: now))
    }

    /// Whether the ledger was found missing, by the extension or, if the app runs first, now.
    private func noticesLostLedger(_ ledger: FileLedger?, at now: Timestamp) throws(DeviceError) -> Bool {
        guard let ledger else { return false }
        let hadKeys = try change(at: now) { (change) throws(KeyChangeError) in !change.rotation.members.isEmpty }
        if hadKeys, ledger.isMissing { try? ledger.begin(floor: now, asksForNewKey: true) }
        return ledger.asksForNewKey
    }

    /// Confirms the keys under which a message has opened, and retires the keys that they replace.
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

    /// Erases revoked keys at once, and retired ones a day after the last push that they open may arrive. If the app uses
    /// only hybrid keys, its other retired keys are erased at once.
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
