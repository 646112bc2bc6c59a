import PushSender
package import SealedPush

/// The rules for registrations, the same for every database. They are applied in the transaction that writes the change.
package enum RegistryRules {
    /// Neither a name nor, if a key is pinned, a login alone authorizes replacing a known device.
    /// Throws `otherUser` or `otherEnrollment`.
    package static func requireOwn(
        _ known: RegisteredDevice, _ new: RegisteredDevice, movingFrom previous: UserName?
    ) throws(OutboxError) {
        guard known.user == new.user else {
            guard previous == known.user else { throw .otherUser(new.name) }
            return
        }
        guard case .enrolled(let pinned) = known.keys else { return }
        guard case .enrolled(let enrolled) = new.keys, enrolled.enrollment == pinned.enrollment else {
            throw .otherEnrollment(new.name)
        }
    }

    /// Checks that the user may have another device. A device can claim any token, which takes it from the device that had
    /// it. So each account is limited, no matter who has its login. `count` is the number of the user's devices, not
    /// counting a new one. Throws `tooManyDevices`.
    package static func requireRoom(for change: DeviceChange, among count: Int) throws(OutboxError) {
        guard count < change.deviceLimit else { throw .tooManyDevices(limit: change.deviceLimit) }
    }

    /// Checks who owns a device. A record is public and can be submitted by anyone, so ownership is proven by an answered
    /// challenge. Once this user's device has answered, other users' unproven pins of it are removed. `others` are other
    /// users' devices under the same enrollment key: their rows, and whether they have answered. Returns the rows to
    /// remove. Throws `enrolledElsewhere`. Source: Specification 11.5.8.
    package static func claim(
        _ device: RegisteredDevice, others: [(id: Int64, isProven: Bool)]
    ) throws(OutboxError) -> [Int64] {
        guard case .enrolled(let enrolled) = device.keys else { return [] }
        guard !others.contains(where: \.isProven) else { throw .enrolledElsewhere(device.name) }
        return enrolled.proven.isEmpty ? [] : others.map(\.id)
    }
}

extension RegisteredDevice {
    /// Whether pushes that wait for the other device may be shown on this one: user, app, and installation are the same.
    package func isSamePlace(as other: RegisteredDevice) -> Bool {
        guard user == other.user, topic == other.topic else { return false }
        return switch (keys, other.keys) {
        case (.enrolled(let new), .enrolled(let old)): new.enrollment == old.enrollment
        // A device whose login-only key is now proven by records is still the same device.
        case (.enrolled(let new), .unverified(let old)): new.record.recipients.contains(old)
        case (.unverified(let new), .unverified(let old)): new == old
        case (.unverified, .enrolled): false
        }
    }
}

extension StoredDevice {
    /// Throws `damaged` if the row isn't a valid device. A verified `record` isn't verified again if it is this device's.
    package init(_ row: some OutboxRow, knowing record: DeviceRecord? = nil) throws(OutboxError) {
        let names = try DeviceRowNames(row)
        device = RegisteredDevice(
            name: names.device, user: names.user, topic: names.topic, keys: try DeviceKeys(row, knowing: record),
            address: try AddressState(row))
        isSealedToItsKey = try SealingKey(row) == SealingKey(device.keys)
        codes = DeviceCodes(
            pin: try row.optionalBytes("pin_code"), address: try row.optionalBytes("address_code"),
            enrollment: try row.optionalBytes("code"))
    }
}

extension AddressState {
    package init(_ row: some OutboxRow) throws(OutboxError) {
        guard let carrier = Carrier(try row.text("carrier")) else { throw .damaged }
        let refusal = try row.optionalText("token_refusal")
        guard let bytes = try row.optionalBytes("token") else {
            self = .none(carrier, reason: refusal)
            return
        }
        guard let address = Address(bytes, of: carrier) else { throw .damaged }
        let registered = try row.time("token_registered")
        self =
            refusal.map { .disabled(address, registered: registered, reason: $0) }
            ?? .active(address, registered: registered)
    }
}

extension DeviceKeys {
    fileprivate init(_ row: some OutboxRow, knowing known: DeviceRecord?) throws(OutboxError) {
        do {
            guard let enrollment = try row.optionalText("enrollment") else {
                guard let recipient = try row.recipient() else { throw OutboxError.damaged }
                self = .unverified(recipient)
                return
            }
            let text = try row.text("record")
            let record = if let known, known.description == text { known } else { try DeviceRecord(parsing: text) }
            let isSigner = record.enrollment.description == enrollment
            self = .enrolled(
                try EnrolledDevice(
                    loading: isSigner ? record.enrollment : try EnrollmentPublicKey(parsing: enrollment),
                    record: record,
                    proven: try row.text("proven").split(separator: " ").map {
                        try DevicePublicKey(parsing: String($0))
                    }))
        } catch { throw .damaged }
    }
}
