import PushSender
package import SealedPush

/// Who may register what, whatever the database. Decided in the transaction that writes it.
package enum RegistryRules {
    /// A name says nothing about who may take it, and a pinned key is there so that no login alone replaces it.
    ///
    /// - Throws: `otherUser`, `otherEnrollment`.
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

    /// A device may have any token, and takes it from whoever had it. So an account, whoever has its login, has a limit.
    ///
    /// - Parameter count: the user's devices, not counting a new one.
    /// - Throws: `tooManyDevices`.
    package static func requireRoom(for change: DeviceChange, among count: Int) throws(OutboxError) {
        guard count < change.deviceLimit else { throw .tooManyDevices(limit: change.deviceLimit) }
    }

    /// Whose a device is, its answer to a challenge says: a record is public, and anybody may hand in another's. Where this
    /// user's device has answered, what others have only pinned of it is forgotten.
    /// Source: Specification 11.5.8.
    ///
    /// - Parameter others: other users' devices under the same enrollment key: their rows, and whether they have answered.
    /// - Returns: the rows to be removed.
    /// - Throws: `enrolledElsewhere`.
    package static func claim(
        _ device: RegisteredDevice, others: [(id: Int64, isProven: Bool)]
    ) throws(OutboxError) -> [Int64] {
        guard case .enrolled(let enrolled) = device.keys else { return [] }
        guard !others.contains(where: \.isProven) else { throw .enrolledElsewhere(device.name) }
        return enrolled.proven.isEmpty ? [] : others.map(\.id)
    }
}

extension RegisteredDevice {
    /// Whether what waits for the other may be shown here: the same person, app and installation.
    package func isSamePlace(as other: RegisteredDevice) -> Bool {
        guard user == other.user, topic == other.topic else { return false }
        return switch (keys, other.keys) {
        case (.enrolled(let new), .enrolled(let old)): new.enrollment == old.enrollment
        // A device whose login-only key is now proven by records is still that device.
        case (.enrolled(let new), .unverified(let old)): new.record.recipients.contains(old)
        case (.unverified(let new), .unverified(let old)): new == old
        case (.unverified, .enrolled): false
        }
    }
}

/// A device as a database holds it.
package struct DeviceRow: Sendable {
    package var name: String
    package var user: String
    package var topic: String
    package var carrier: String
    /// Nil where it has none.
    package var address: [UInt8]?
    /// When the address was registered, in milliseconds since 1970.
    package var registered: Int64
    package var refusal: String?
    /// Its 32 bytes.
    package var recipient: [UInt8]?
    package var enrollment: Registrant?

    package struct Registrant: Sendable {
        package var key: String
        package var record: String
        /// Recipients, parted by blanks.
        package var proven: String

        package init(key: String, record: String, proven: String) {
            self.key = key
            self.record = record
            self.proven = proven
        }
    }

    package init(
        name: String, user: String, topic: String, carrier: String, address: [UInt8]?, registered: Int64,
        refusal: String?, recipient: [UInt8]?, enrollment: Registrant?
    ) {
        self.name = name
        self.user = user
        self.topic = topic
        self.carrier = carrier
        self.address = address
        self.registered = registered
        self.refusal = refusal
        self.recipient = recipient
        self.enrollment = enrollment
    }

    /// What is sealed to stands in a member of its own, so that a send to everyone reads no records: they were verified on
    /// their way in, and to verify them once more against a key in the same row would prove nothing.
    package init(_ device: RegisteredDevice) {
        let registered: Timestamp?
        switch device.address {
        case .active(_, let time):
            registered = time
            refusal = nil
        case .disabled(_, let time, let reason):
            registered = time
            refusal = reason
        case .none(_, let reason):
            registered = nil
            refusal = reason
        }
        name = device.name.description
        user = device.user.description
        topic = device.topic.description
        carrier = device.address.carrier.description
        address = device.address.address?.bytes
        self.registered = (registered?.secondsSince1970 ?? 0) * 1_000
        recipient = SealingKey(device.keys).recipient?.bytes
        if case .enrolled(let enrolled) = device.keys {
            enrollment = Registrant(
                key: enrolled.enrollment.description, record: enrolled.record.description,
                proven: enrolled.proven.map(\.description).sorted().joined(separator: " "))
        }
    }

    /// - Parameter record: a verified one: it is not verified again where it is this device's.
    /// - Throws: `damaged` where it is no device.
    package func device(knowing record: DeviceRecord? = nil) throws(OutboxError) -> RegisteredDevice {
        guard let name = DeviceName(parsing: name), let user = UserName(parsing: user),
            let topic = Topic(parsing: topic)
        else { throw .damaged }
        return RegisteredDevice(
            name: name, user: user, topic: topic, keys: try keys(record), address: try addressState())
    }

    private func addressState() throws(OutboxError) -> AddressState {
        guard let carrier = Carrier(carrier) else { throw .damaged }
        guard let address else { return .none(carrier, reason: refusal) }
        guard let address = Address(address, of: carrier) else { throw .damaged }
        let registered = Timestamp(clamping: registered / 1_000)
        if let refusal { return .disabled(address, registered: registered, reason: refusal) }
        return .active(address, registered: registered)
    }

    private func keys(_ known: DeviceRecord?) throws(OutboxError) -> DeviceKeys {
        do {
            guard let enrollment else {
                guard let recipient = try DevicePublicKey(stored: recipient) else { throw OutboxError.damaged }
                return .unverified(recipient)
            }
            let isKnown = known?.description == enrollment.record
            let record = if isKnown, let known { known } else { try DeviceRecord(parsing: enrollment.record) }
            let isSigner = record.enrollment.description == enrollment.key
            return .enrolled(
                try EnrolledDevice(
                    loading: isSigner ? record.enrollment : try EnrollmentPublicKey(parsing: enrollment.key),
                    record: record,
                    proven: try enrollment.proven.split(separator: " ").map { try DevicePublicKey(parsing: String($0)) }
                ))
        } catch { throw .damaged }
    }
}

extension DevicePublicKey {
    /// Reads the bytes of a row; nil if it has none.
    ///
    /// - Throws: `damaged` if they are not a key that is safe to use.
    package init?(stored bytes: [UInt8]?) throws(OutboxError) {
        guard let bytes else { return nil }
        guard let recipient = DevicePublicKey(bytes: bytes) else { throw .damaged }
        self = recipient
    }
}
