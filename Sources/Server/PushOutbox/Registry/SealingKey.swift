import PushSender
package import SealedPush

/// The part of a device's keys that a send needs: the recipient, and when it may be sealed to.
package struct SealingKey: Hashable, Sendable {
    /// The recipient, or `nil` if none is proven.
    package let recipient: DevicePublicKey?
    package let isVerified: Bool
    /// Seconds since 1970, both inclusive.
    package let validFrom: Int64
    package let validUntil: Int64
    /// The number of days for which the device keeps the key after it is retired, or `nil` if no record specifies it.
    package let keeps: Int64?
}

extension SealingKey {
    init(_ row: some OutboxRow) throws(OutboxError) {
        self.init(
            recipient: try row.recipient(), isVerified: try row.bool("is_verified"),
            validFrom: try row.int("valid_from"), validUntil: try row.int("valid_until"),
            // Clamped: it is multiplied later, and anyone with the database may have written it.
            keeps: try row.optionalInt("keeps").map {
                min(max($0, Int64(ListForm.keeps.lowerBound)), Int64(ListForm.keeps.upperBound))
            })
    }

    /// Like `EnrolledDevice.recipient(at:)`, but independent of the time.
    init(_ keys: RegisteredKeys) {
        switch keys {
        case .unverified:
            self.init(recipient: keys.recipient, isVerified: false, validFrom: 0, validUntil: .max, keeps: nil)
        case .enrolled(let device):
            self.init(
                recipient: keys.recipient, isVerified: true,
                validFrom: device.record.created.secondsSince1970 - TimeRules.maximumLead(isAnonymous: false),
                validUntil: device.record.expires.secondsSince1970, keeps: Int64(device.record.keeps))
        }
    }

    /// Returns the reason why the key can't be sealed to now, or `nil` if it can.
    func obstacle(atSecond now: Int64, includingUnverified: Bool, requiringHybrid: Bool) -> SkipReason? {
        guard let recipient else { return .unproven }
        guard isVerified || includingUnverified else { return .unverified }
        guard !requiringHybrid || recipient.isHybrid else { return .notHybrid }
        guard now >= validFrom else { return .recordNotYetValid }
        return now <= validUntil ? nil : .recordExpired
    }
}
