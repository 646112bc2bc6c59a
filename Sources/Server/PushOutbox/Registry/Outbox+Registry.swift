internal import PushCore
public import PushSender
public import SealedPush

extension Outbox {
    /// Registers a device or replaces its registration. Durable on return; takes about 10 ms, most of it for the disk.
    ///
    /// An address belongs to one device: if another device has it, that device loses it. Pushes that wait for the device
    /// are discarded if they were meant for someone else, that is, if the user, app, or unverified recipient has changed.
    ///
    /// - Parameters:
    ///   - device: The registration.
    ///   - previous: The user who was logged in there before, if the same installation now has a different user. Take it
    ///     from the server's own data, never from the app: a client that could choose it could take over any device. The
    ///     new user's enrollment key is then pinned.
    /// - Throws: `otherUser` if the name is another user's device and `previous` doesn't name that user. `otherEnrollment`
    ///   if another enrollment key is pinned for this user's device. `enrolledElsewhere` if another user's device has this
    ///   enrollment key and has answered a challenge. On error, nothing changes. Other users' unproven pins of this key are
    ///   removed once this device has answered a challenge.
    @discardableResult
    public func register(
        _ device: RegisteredDevice, movingFrom previous: UserName? = nil
    ) async throws(OutboxError) -> RegistrationChange {
        try await register([device], movingFrom: previous.map { [device.name: $0] } ?? [:])[0]
    }

    /// Registers many devices in one transaction, all or none. Takes well under 100 µs each; a thousand at a time is fine.
    ///
    /// - Parameters:
    ///   - devices: The registrations.
    ///   - previous: For each device, the user who was logged in there before, if it was a different one.
    /// - Throws: The same errors as for one device.
    @discardableResult public func register(
        _ devices: [RegisteredDevice], movingFrom previous: [DeviceName: UserName] = [:]
    ) async throws(OutboxError) -> [RegistrationChange] {
        try await requireKey()
        return try await store.register(
            devices.map { device in
                DeviceChange(name: device.name, previous: previous[device.name], key: key) { _ in device }
            })
    }

    /// Stores what a phone sends at each launch, in one transaction: its newest record and its address.
    ///
    /// An unknown device is registered, and its enrollment key is pinned. A known device keeps its pin; its address is
    /// stored even if its record is refused. A user can have at most `deviceLimit` devices; further ones are refused.
    /// Source: EnrollmentHTTP 3.2.
    ///
    /// - Throws: `tooManyDevices`, or `record` for an unknown device; `forged`, `otherUser`, or `enrolledElsewhere`. On
    ///   error, nothing changes.
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

    /// Stores the address that the app has just registered, even if it is the same as before. The time matters when a
    /// carrier reports that an address has been gone since some moment. Waiting pushes go to the new address.
    ///
    /// - Throws: `unknownDevice`.
    public func setAddress(
        _ address: Address, of name: DeviceName, at registered: Timestamp
    ) async throws(OutboxError) {
        try await change(name) { $0.address = .active(address, registered: registered) }
    }

    /// Stores a newer record of a device.
    ///
    /// - Throws: `unknownDevice`, `notEnrolled`, `record`, or `enrolledElsewhere`. On error, nothing changes.
    public func accept(_ record: DeviceRecord, of name: DeviceName, at now: Timestamp) async throws(OutboxError) {
        try await changeEnrolled(name) { enrolled throws(OutboxError) in
            do throws(SealedPush.RecordError) { try enrolled.accept(record, at: now) } catch {
                throw OutboxError.record(error)
            }
        }
    }

    /// Marks a recipient as the device's own if the answer to its challenge is right.
    ///
    /// - Throws: `unknownDevice`, `notEnrolled`, `challenge`, or `enrolledElsewhere`. On error, nothing changes.
    public func prove(
        _ challenge: PendingChallenge, answer: String, of name: DeviceName, at now: Timestamp
    ) async throws(OutboxError) {
        try await changeEnrolled(name) { enrolled throws(OutboxError) in
            do throws(ChallengeError) {
                try enrolled.prove(challenge, answer: answer, at: now)
            } catch { throw OutboxError.challenge(error) }
        }
    }

    /// Removes a device with its waiting pushes and dead letters, and returns how many they were.
    ///
    /// - Throws: `unknownDevice`.
    @discardableResult public func remove(_ name: DeviceName) async throws(OutboxError) -> Int {
        guard let found = try await store.devices(.named(name)).first,
            let discardedCount = try await store.remove(found, if: { $0.name == found.name })
        else { throw .unknownDevice }
        return discardedCount
    }

    /// Removes a row that can't be used, and its waiting pushes. Returns the number of pushes.
    ///
    /// - Parameter row: The number from ``UnusableDevice``.
    /// - Throws: `unknownDevice` if no row has this number, or if its device can be used.
    @discardableResult public func remove(row: Int64) async throws(OutboxError) -> Int {
        guard let found = try await unusable(row: row),
            let discardedCount = try await store.remove(found, if: { [key] in $0.obstacle(key) != nil })
        else { throw .unknownDevice }
        return discardedCount
    }

    /// Returns the row with this number, or nil if there is none, or if its device can be used.
    package func unusableDevice(row: Int64) async throws(OutboxError) -> UnusableDevice? {
        try await unusable(row: row).flatMap { UnusableDevice($0, key) }
    }

    private func unusable(row: Int64) async throws(OutboxError) -> FoundDevice? {
        try await requireKey(marking: false)
        guard let found = try await store.devices(.rows(from: row, limit: 1)).first, found.row == row else {
            return nil
        }
        return found.obstacle(key) == nil ? nil : found
    }

    /// Removes the devices of an enrollment key and an app, for every account, if their records were signed before the device
    /// left.
    public func leave(_ leaving: Leaving) async throws(OutboxError) {
        for found in try await store.devices(.enrolled(leaving.enrollment)) {
            _ = try await store.remove(found) {
                guard case .enrolled(let enrolled) = $0.stored?.device.keys else { return false }
                return leaving.ends(enrolled.record)
            }
        }
    }

    /// Removes a user's data except for their logins: devices, waiting pushes, idempotency keys, and receipts under the
    /// devices' current keys. If a call is interrupted, another call removes the rest. `receipts` returns the IDs of the
    /// receipts of the device with this key.
    package func erase(
        _ user: UserName, topic: Topic, receipts: (DevicePublicKey) -> [ReceiptID]
    ) async throws(OutboxError) -> (deviceCount: Int, discardedCount: Int) {
        var (audiences, ids, discardedCount) = ([Audience.user(user).text(topic)], [ReceiptID](), 0)
        let devices = try await store.devices(.of(user))
        for found in devices {
            if let name = String(strictUTF8: found.name) { audiences += Audience.texts(ofDevice: name, topic) }
            switch found.stored?.device.keys {
            case .unverified(let recipient): ids += receipts(recipient)
            case .enrolled(let enrolled): ids += enrolled.record.recipients.flatMap(receipts)
            case nil: break
            }
        }
        try await store.forget(audiences: audiences, receipts: ids)
        for found in devices {
            discardedCount += try await store.remove(found) { $0.stored?.device.user ?? user == user } ?? 0
        }
        return (devices.count, discardedCount)
    }

    /// Invalidates every login of a user issued until this moment, in milliseconds since 1970.
    package func endLogins(of user: UserName, at moment: Int64) async throws(OutboxError) {
        try await store.endLogins(of: user, at: moment)
    }

    /// Returns the moment up to which a user's logins were ended, or `nil` if none of those logins could still be valid.
    package func loginsEnded(for user: UserName) async throws(OutboxError) -> Int64? {
        try await store.loginsEnded(for: user)
    }

    /// The lifetime of a login in seconds: an hour.
    package static let loginLifetime: Int64 = 3_600
    /// Returns the device, or `nil` if it isn't registered.
    ///
    /// - Throws: `damagedDevice` if its row can't be used. If the outbox has a key, `forged`, or `keyNeeded` without the key: an
    ///   unchecked device would look verified wherever it is registered next.
    public func device(_ name: DeviceName) async throws(OutboxError) -> RegisteredDevice? {
        try await requireKey(marking: false)
        guard let found = try await store.devices(.named(name)).first else { return nil }
        guard let stored = found.stored else { throw .damagedDevice(name) }
        guard key?.accepts(stored) ?? true else { throw .forged(name) }
        return stored.device
    }

    /// Returns a user's devices by name, except those that can't be used. No devices is not an error.
    ///
    /// - Throws: `keyNeeded`, `otherKey`.
    public func devices(of user: UserName) async throws(OutboxError) -> [RegisteredDevice] {
        try await listing(of: user).devices
    }

    /// Returns one page of all devices by name, except those that can't be used. Pass the last name of the previous page.
    /// A page with fewer than `limit` devices is the last one.
    public func devices(after name: DeviceName? = nil, limit: Int = 100) async throws(OutboxError) -> [RegisteredDevice]
    {
        try await listing(after: name, limit: limit).devices
    }

    /// Returns a user's devices by name, and the user's rows that can't be used.
    package func listing(of user: UserName) async throws(OutboxError) -> DeviceListing {
        try await requireKey(marking: false)
        var listing = DeviceListing()
        for found in try await store.devices(.of(user)) { listing.add(found, key) }
        return listing
    }

    /// Returns one page of all devices by name, and the rows before its last device that can't be used.
    package func listing(after name: DeviceName?, limit: Int) async throws(OutboxError) -> DeviceListing {
        try await requireKey(marking: false)
        var (listing, last, count) = (DeviceListing(), name.map { Array($0.description.utf8) }, limit)
        while listing.devices.count < limit {
            let page = try await store.devices(.page(after: last, limit: count))
            for found in page where listing.devices.count < limit { listing.add(found, key) }
            guard page.count == count else { break }
            last = page.last?.name
            // There may be many rows that can't be used.
            count = Self.pageCount
        }
        return listing
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

    /// Loads, changes, and saves a device in one transaction, so that callers in several processes take turns.
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
