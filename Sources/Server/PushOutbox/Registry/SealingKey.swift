import PushSender
package import SealedPush

/// What of a device's keys a send needs: the recipient, and when it may be sealed to.
package struct SealingKey: Hashable, Sendable {
    /// Nil where no recipient is proven.
    package let recipient: DevicePublicKey?
    package let isVerified: Bool
    /// Seconds since 1970, both included.
    package let validFrom: Int64
    package let validUntil: Int64

    package init(recipient: DevicePublicKey?, isVerified: Bool, validFrom: Int64, validUntil: Int64) {
        self.recipient = recipient
        self.isVerified = isVerified
        self.validFrom = validFrom
        self.validUntil = validUntil
    }

    /// The same choice as `EnrolledDevice.recipient(at:)`, with the time left open.
    package init(_ keys: DeviceKeys) {
        switch keys {
        case .unverified(let recipient):
            self.init(recipient: recipient, isVerified: false, validFrom: 0, validUntil: .max)
        case .enrolled(let device):
            self.init(
                recipient: device.record.recipients.first(where: device.proven.contains), isVerified: true,
                validFrom: device.record.created.secondsSince1970 - TimeRules.maximumLead(isAnonymous: false),
                validUntil: device.record.expires.secondsSince1970)
        }
    }

    /// Why nothing may be sealed to it now; nil where it may.
    package func obstacle(atSecond now: Int64, includingUnverified: Bool) -> SkipReason? {
        guard recipient != nil else { return .unproven }
        guard isVerified || includingUnverified else { return .unverified }
        guard now >= validFrom else { return .recordNotYetValid }
        return now <= validUntil ? nil : .recordExpired
    }

    /// Whether somebody vouches for the recipient was checked by records on their way in, and by `obstacle` just now.
    func seal(_ content: PreparedContent, with sealer: Sealer) -> SealedPayload? {
        recipient.map { sealer.seal(content, toUnverified: $0) }
    }
}
