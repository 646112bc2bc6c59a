public import SealedPush

/// A device that belongs to an account: its pinned enrollment key, its newest record, and the recipients that it has proven.
///
/// This is a value. Store it with the account, and let only one caller at a time change it. Source: Specification 11.4.
public struct EnrolledDevice: Hashable, Sendable {
    /// The key that was pinned when the device enrolled.
    public let enrollment: EnrollmentPublicKey
    /// The newest accepted record.
    public private(set) var record: DeviceRecord
    /// The record's recipients that have answered a challenge.
    public private(set) var proven: Set<DevicePublicKey>

    /// Enrolls a device by pinning the key that signed this record.
    ///
    /// **Call this only within the app's own login**, when it's certain that the record comes from this account's device.
    /// From then on, the holder of that key decides which keys the device's messages are sealed to.
    ///
    /// - Throws: `otherTopic`, `expired`, or `notYetValid`.
    public init(pinning record: DeviceRecord, topic: Topic, at now: Timestamp) throws(RecordError) {
        try record.check(pinned: record.enrollment, topic: topic, replacing: nil, at: now)
        (enrollment, self.record, proven) = (record.enrollment, record, [])
    }

    /// Creates a device from the three texts that the server stored with the account.
    ///
    /// These aren't secret, but **anyone who can change them in storage decides which keys get messages**. Only the record
    /// is signed; the pinned key and the proven recipients aren't. Proven keys that aren't in the record are dropped.
    ///
    /// - Throws: `foreignSigner` if the pinned key didn't sign the record. A record that has since expired is accepted.
    public init(
        loading enrollment: EnrollmentPublicKey, record: DeviceRecord, proven: some Sequence<DevicePublicKey>
    ) throws(RecordError) {
        guard record.enrollment == enrollment else { throw .foreignSigner }
        (self.enrollment, self.record) = (enrollment, record)
        self.proven = Set(proven).intersection(record.recipients)
    }

    /// Accepts a newer record, or the same one again. Recipients that the new record doesn't contain are forgotten.
    ///
    /// - Throws: The same errors as `DeviceRecord.check(pinned:topic:replacing:at:)`, without changing anything.
    public mutating func accept(_ newer: DeviceRecord, at now: Timestamp) throws(RecordError) {
        try newer.check(pinned: enrollment, topic: record.topic, replacing: record, at: now)
        record = newer
        proven.formIntersection(newer.recipients)
    }

    /// Marks a recipient as proven if this is the answer to the challenge that was sealed to it.
    ///
    /// - Throws: `foreignEnrollment`, `notInRecord`, `late`, `malformed`, or `wrongAnswer`, without changing anything.
    public mutating func prove(
        _ challenge: PendingChallenge, answer: String, at now: Timestamp
    ) throws(ChallengeError) {
        guard challenge.enrollment == enrollment else { throw .foreignEnrollment }
        guard record.recipients.contains(challenge.recipient) else { throw .notInRecord }
        try challenge.check(answer, at: now)
        proven.insert(challenge.recipient)
    }

    /// The record's recipients that haven't answered a challenge yet, newest first.
    public var unproven: [DevicePublicKey] { record.recipients.filter { !proven.contains($0) } }

    /// The newest recipient that is proven, or nil if none is. No other one is sealed to.
    package var newestProven: DevicePublicKey? { record.recipients.first(where: proven.contains) }

    /// Returns the recipient to seal to now: the newest one that is proven.
    ///
    /// - Throws: `expired`, `notYetValid`, or, if no recipient is proven, `unproven`.
    public func recipient(at now: Timestamp) throws(RecordError) -> VerifiedRecipient {
        try record.check(pinned: enrollment, topic: record.topic, replacing: nil, at: now)
        guard let newest = newestProven else { throw .unproven }
        return VerifiedRecipient(newest, keeps: record.keeps)
    }
}
