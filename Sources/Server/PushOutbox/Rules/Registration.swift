package import PushSender
package import SealedPush

/// A device's registration, as it was and as it will be. A store looks up what it asks for, and carries out the changes that
/// it decides on, all in one transaction.
package struct Registration: Sendable {
    /// The device's row, or `nil` if it isn't registered yet.
    package let row: Int64?
    /// The device as it will be stored.
    package let new: StoredDevice
    private let known: RegisteredDevice?
    private let previous: UserName?
    private let deviceLimit: Int

    /// Reads the device's row, if there is one, and applies the change to it. Throws `damagedDevice`, `forged`, or the
    /// change's own errors.
    package init(_ change: DeviceChange, knowing row: (some OutboxRow)?) throws(OutboxError) {
        let found = try change.known(row)
        self.init(
            row: found?.id, known: found?.stored.device, new: try change.next(found?.stored), previous: change.previous,
            deviceLimit: change.deviceLimit)
    }

    init(
        row: Int64?, known: RegisteredDevice?, new: StoredDevice, previous: UserName? = nil, deviceLimit: Int = .max
    ) {
        (self.row, self.known, self.new) = (row, known, new)
        (self.previous, self.deviceLimit) = (previous, deviceLimit)
    }

    // MARK: Facts to look up

    /// The user whose devices are counted, or `nil` if their number doesn't matter.
    package var countedUser: UserName? { row == nil && deviceLimit < .max ? new.device.user : nil }

    /// The enrollment key under which other users may have devices, or `nil` if the device has none.
    package var enrollment: EnrollmentPublicKey? {
        if case .enrolled(let enrolled) = new.device.keys { enrolled.enrollment } else { nil }
    }

    /// The address that another device may have, or `nil` if the device has none that is used.
    package var address: Address? { if case .active(let address, _) = new.device.address { address } else { nil } }

    // MARK: Decisions

    /// Decides whether the device may be registered, and what changes.
    ///
    /// - Throws: `otherUser`, `otherEnrollment`, `tooManyDevices`, or `enrolledElsewhere`.
    package func plan(knowing owners: KnownOwners) throws(OutboxError) -> RegistrationPlan {
        try requireOwn()
        try requireRoom(among: owners.deviceCount)
        let removed = try claim(from: owners.enrolled)
        // A holder that is removed has no address to take.
        let holder = owners.holder.flatMap { removed.contains($0.row) ? nil : $0 }
        let takes: [RegistrationStep] =
            holder.map { [.dropAddress(of: $0.row, reason: Self.moved), .discardAll(of: $0.row)] } ?? []
        return RegistrationPlan(
            isNew: row == nil, addressTakenFrom: holder?.name,
            steps: removed.map { .remove($0) } + takes + [.write(keepsProof: keepsProof)] + waiting)
    }

    /// Neither a name nor, if a key is pinned, a login alone authorizes replacing a known device.
    /// Throws `otherUser` or `otherEnrollment`.
    private func requireOwn() throws(OutboxError) {
        guard let known else { return }
        guard known.user == new.device.user else {
            guard previous == known.user else { throw .otherUser(new.device.name) }
            return
        }
        guard case .enrolled(let pinned) = known.keys else { return }
        guard enrollment == pinned.enrollment else { throw .otherEnrollment(new.device.name) }
    }

    /// Checks that the user may have another device. A device can claim any token, which takes it from the device that had
    /// it. So each account is limited, no matter who has its login. Throws `tooManyDevices`.
    private func requireRoom(among count: Int) throws(OutboxError) {
        guard countedUser == nil || count < deviceLimit else { throw .tooManyDevices(limit: deviceLimit) }
    }

    /// Checks who owns a device. Anyone who has a record can submit it, so ownership is proven by an answered
    /// challenge. Once this user's device has answered, other users' unproven pins of it are removed. Returns their rows.
    /// Throws `enrolledElsewhere`. Source: Specification 11.5.8.
    private func claim(from others: [KnownOwners.Enrolled]) throws(OutboxError) -> [Int64] {
        guard case .enrolled(let enrolled) = new.device.keys else { return [] }
        guard !others.contains(where: \.isProven) else { throw .enrolledElsewhere(new.device.name) }
        return enrolled.proven.isEmpty ? [] : others.map(\.row)
    }

    /// Whether the carrier's acceptance of the earlier address holds for the new one: carrier, app, and address are the same.
    private var keepsProof: Bool {
        known?.address.address == new.device.address.address && known?.topic == new.device.topic
    }

    /// The steps for the pushes that wait for the device.
    private var waiting: [RegistrationStep] {
        guard let row, let known else { return [] }
        // They must not be shown to the device's next user.
        guard new.device.isSamePlace(as: known) else { return [.discardAll(of: row)] }
        let carrier = new.device.address.carrier
        // Deferred pushes become due at once: the reason why the old address failed doesn't apply to the new one.
        if case .active(let address, let registered) = new.device.address, address != known.address.address {
            return [.redirect(row, to: carrier, dueBy: registered.secondsSince1970 * 1_000)]
        }
        return carrier == known.address.carrier ? [] : [.redirect(row, to: carrier, dueBy: nil)]
    }

    /// The reason why a device has no address whose address another device has now.
    private static let moved = "moved"
}

extension RegisteredDevice {
    /// Whether pushes that wait for the other device may be shown on this one: user, app, and installation are the same.
    fileprivate func isSamePlace(as other: RegisteredDevice) -> Bool {
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
