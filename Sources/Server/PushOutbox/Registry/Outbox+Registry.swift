internal import PushCore
public import PushSender
public import SealedPush

extension Outbox {
    /// Registers a device, or replaces what is known of it. Durable on return; about 10 ms, most of it the disk's.
    ///
    /// An address belongs to one device: where another has it, that one loses it. What waits for the device is discarded where
    /// it was meant for someone else: after a change of user or app, or of an unverified recipient.
    ///
    /// - Parameter previous: who was logged in there before, where the same installation now has another user. Take it from
    ///   what the server knows, never from what the app says: whoever could name it could take any device over. The new
    ///   user's enrollment key is pinned then.
    /// - Throws: `otherUser` where the name is another user's device and `previous` does not say so, `otherEnrollment` where
    ///   another enrollment key is pinned for this user's device, `enrolledElsewhere` where another user's device has this
    ///   enrollment key and has answered a challenge; then nothing has changed. What other users have pinned of this key, and
    ///   not proven, goes when this device has answered one.
    @discardableResult
    public func register(
        _ device: RegisteredDevice, movingFrom previous: UserName? = nil
    ) async throws(OutboxError) -> RegistrationChange {
        try await register([device], movingFrom: previous.map { [device.name: $0] } ?? [:])[0]
    }

    /// Registers many devices in one transaction: all or none. Well below 100 µs each; a thousand at a time are a good number.
    ///
    /// - Parameter previous: by device, who was logged in there before, where that was another.
    /// - Throws: as for one device.
    @discardableResult public func register(
        _ devices: [RegisteredDevice], movingFrom previous: [DeviceName: UserName] = [:]
    ) async throws(OutboxError) -> [RegistrationChange] {
        try await requireKey()
        return try await store.register(
            devices.map { device in
                DeviceChange(name: device.name, previous: previous[device.name], key: key) { _ in device }
            })
    }

    /// Takes what a phone hands over at each launch, in one transaction: its newest record, and its address.
    ///
    /// An unknown device is registered, and its enrollment key pinned. A known one keeps its pin; its address is taken even if
    /// its record is refused. Source: EnrollmentHTTP 3.2.
    ///
    /// - Parameter deviceLimit: how many devices a user may have; one more is refused.
    /// - Throws: `tooManyDevices`, or `record` for an unknown device; `forged`, `otherUser`, `enrolledElsewhere`; then nothing
    ///   has changed.
    public func register(
        record: DeviceRecord, address: Address, of name: DeviceName, user: UserName, deviceLimit: Int = .max,
        at now: Timestamp
    ) async throws(OutboxError) -> RecordRegistration {
        try await requireKey()
        let outcome = Locked<RecordRegistration?>(nil)
        let change = DeviceChange(name: name, key: key, record: record, deviceLimit: deviceLimit) {
            known throws(OutboxError) in
            let next = try RecordRegistration(of: record, known: known, at: now)
            outcome.withLock { $0 = next }
            return RegisteredDevice(
                name: name, user: user, topic: next.device.record.topic, keys: .enrolled(next.device),
                address: .active(address, registered: now))
        }
        _ = try await store.register([change])
        guard let outcome = outcome.withLock({ $0 }) else { throw .damaged }
        return outcome
    }

    /// Notes the address that the app has registered now, also where it is the same as before: the time counts when a carrier
    /// says that an address is gone since some moment. What waits for the device goes to the new one.
    ///
    /// - Throws: `unknownDevice`.
    public func setAddress(
        _ address: Address, of name: DeviceName, at registered: Timestamp
    ) async throws(OutboxError) {
        try await change(name) { $0.address = .active(address, registered: registered) }
    }

    /// Takes a newer record of a device.
    ///
    /// - Throws: `unknownDevice`, `notEnrolled`, `record`, `enrolledElsewhere`; then nothing has changed.
    public func accept(_ record: DeviceRecord, of name: DeviceName, at now: Timestamp) async throws(OutboxError) {
        try await changeEnrolled(name) { enrolled throws(OutboxError) in
            do throws(SealedPush.RecordError) { try enrolled.accept(record, at: now) } catch {
                throw OutboxError.record(error)
            }
        }
    }

    /// Marks a recipient as the device's own, if this is the answer to its challenge.
    ///
    /// - Throws: `unknownDevice`, `notEnrolled`, `challenge`, `enrolledElsewhere`; then nothing has changed.
    public func prove(
        _ challenge: PendingChallenge, answer: String, of name: DeviceName, at now: Timestamp
    ) async throws(OutboxError) {
        try await changeEnrolled(name) { enrolled throws(OutboxError) in
            do throws(ChallengeError) {
                try enrolled.prove(challenge, answer: answer, at: now)
            } catch { throw OutboxError.challenge(error) }
        }
    }

    /// Forgets a device and what waits for it; returns how many pushes that were.
    ///
    /// - Throws: `unknownDevice`.
    @discardableResult public func remove(_ name: DeviceName) async throws(OutboxError) -> Int {
        try await store.remove(name)
    }

    /// Forgets the devices of an enrollment key, of whatever account, whose records were signed before it left.
    public func leave(_ leaving: Leaving) async throws(OutboxError) {
        for found in try await store.devices(.enrolled(leaving.enrollment)) {
            guard case .enrolled(let enrolled) = found.stored?.device.keys, enrolled.record.counter < leaving.counter
            else { continue }
            _ = try await removeIfThere(found)
        }
    }

    /// Forgets all that there is of a person but their logins: devices, what waits for them, idempotency keys, and receipts
    /// under the devices' present keys. The same again takes what was left if it was interrupted.
    ///
    /// - Parameter receipts: what receipts of the device with this key are called by.
    package func erase(
        _ user: UserName, topic: Topic, receipts: (DevicePublicKey) -> [ReceiptID]
    ) async throws(OutboxError) -> (deviceCount: Int, discardedCount: Int) {
        var (audiences, ids, discardedCount) = ([Audience.user(user).text(topic)], [ReceiptID](), 0)
        let devices = try await store.devices(.of(user))
        for found in devices {
            audiences += ["device \(found.name)", "device \(found.name) of \(topic)"]
            switch found.stored?.device.keys {
            case .unverified(let recipient): ids += receipts(recipient)
            case .enrolled(let enrolled): ids += enrolled.record.recipients.flatMap(receipts)
            case nil: break
            }
        }
        try await store.forget(audiences: audiences, receipts: ids)
        for found in devices { discardedCount += try await removeIfThere(found) }
        return (devices.count, discardedCount)
    }

    private func removeIfThere(_ found: FoundDevice) async throws(OutboxError) -> Int {
        guard let name = DeviceName(parsing: found.name) else { return 0 }
        do throws(OutboxError) { return try await store.remove(name) } catch {
            guard error == .unknownDevice else { throw error }
            return 0
        }
    }

    /// Lets no login of a user count that was issued until this moment, in milliseconds since 1970.
    package func endLogins(of user: UserName, at moment: Int64) async throws(OutboxError) {
        try await store.endLogins(of: user, at: moment)
    }

    /// Until when a user's logins were ended; nil if none was that could count still.
    package func loginsEnded(for user: UserName) async throws(OutboxError) -> Int64? {
        try await store.loginsEnded(for: user)
    }

    /// In seconds: an hour.
    package static let loginLifetime: Int64 = 3_600

    /// Nil where no such device is registered.
    ///
    /// - Throws: `damaged` where its row can't be read; where the outbox has a key, `forged`, and `keyNeeded` without it: what
    ///   nobody has checked would be vouched for wherever it is registered next.
    public func device(_ name: DeviceName) async throws(OutboxError) -> RegisteredDevice? {
        try await requireKey(marking: false)
        guard let found = try await store.devices(.named(name)).first else { return nil }
        guard let stored = found.stored else { throw .damaged }
        guard key?.accepts(stored) ?? true else { throw .forged(name) }
        return stored.device
    }

    /// A user's devices, by name, but for those that are forged, or whose rows can't be read; none is no error.
    ///
    /// - Throws: `keyNeeded`, `otherKey`.
    public func devices(of user: UserName) async throws(OutboxError) -> [RegisteredDevice] {
        try await requireKey(marking: false)
        return try await store.devices(.of(user)).compactMap(genuine)
    }

    /// One page of all devices, by name, likewise, for lists of any length: pass the last name of the page before. Fewer than
    /// `limit` are the last ones.
    public func devices(after name: DeviceName? = nil, limit: Int = 100) async throws(OutboxError) -> [RegisteredDevice]
    {
        try await requireKey(marking: false)
        var (devices, last, count): ([RegisteredDevice], String?, Int) = ([], name?.description, limit)
        while devices.count < limit {
            let page = try await store.devices(.page(after: last, limit: count))
            devices += page.compactMap(genuine)
            guard page.count == count else { break }
            last = page.last?.name
            // Of rows that can't be read there may be many.
            count = Self.pageCount
        }
        return Array(devices.prefix(limit))
    }

    private func genuine(_ found: FoundDevice) -> RegisteredDevice? {
        found.stored.flatMap { key?.accepts($0) ?? true ? $0.device : nil }
    }

    private func changeEnrolled(
        _ name: DeviceName, _ body: @escaping @Sendable (inout EnrolledDevice) throws(OutboxError) -> Void
    ) async throws(OutboxError) {
        try await change(name) { device throws(OutboxError) in
            guard case .enrolled(var enrolled) = device.keys else { throw OutboxError.notEnrolled }
            try body(&enrolled)
            device.keys = .enrolled(enrolled)
        }
    }

    /// Loads, changes and saves in one transaction, so that callers in several processes take turns.
    private func change(
        _ name: DeviceName, _ body: @escaping @Sendable (inout RegisteredDevice) throws(OutboxError) -> Void
    ) async throws(OutboxError) {
        try await requireKey()
        let change = DeviceChange(name: name, key: key) { known throws(OutboxError) in
            guard var device = known else { throw .unknownDevice }
            try body(&device)
            return device
        }
        _ = try await store.register([change])
    }
}
