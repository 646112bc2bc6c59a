public import SealedPush

/// What a server knows of one device of one account: whose records it believes, the newest of them, and which of its
/// recipients are proven to be the device's own.
///
/// A value; keep it with the account, and let one caller at a time change it. Source: Specification 11.4.
public struct EnrolledDevice: Hashable, Sendable {
    /// The key that was pinned when the device enrolled.
    public let enrollment: EnrollmentPublicKey
    /// The newest record that was accepted.
    public private(set) var record: DeviceRecord
    /// Those of the record's recipients that have answered a challenge.
    public private(set) var proven: Set<DevicePublicKey>

    /// Enrolls a device: pins the key that has signed this record.
    ///
    /// **Only inside the app's own login**, when it is certain that the record comes from this account's device: from here
    /// on, whoever holds the key decides what is sealed to for the device.
    ///
    /// - Throws: `otherTopic`, `expired`, `notYetValid`.
    public init(pinning record: DeviceRecord, topic: Topic, at now: Timestamp) throws(RecordError) {
        try record.check(pinned: record.enrollment, topic: topic, replacing: nil, at: now)
        self.init(enrollment: record.enrollment, record: record, proven: [])
    }

    /// A device as the server has stored it with the account: the texts of these three, read again.
    ///
    /// Nothing of them is secret, but **whoever can change them where they are kept decides what is sealed to**: only the
    /// record is signed, not which key was pinned, nor what was proven. What is proven and not in the record is dropped.
    ///
    /// - Throws: `foreignSigner` where the record is not signed by the pinned key. A record that has expired since is taken.
    public init(
        loading enrollment: EnrollmentPublicKey, record: DeviceRecord, proven: some Sequence<DevicePublicKey>
    ) throws(RecordError) {
        guard record.enrollment == enrollment else { throw .foreignSigner }
        self.init(enrollment: enrollment, record: record, proven: Set(proven).intersection(record.recipients))
    }

    private init(enrollment: EnrollmentPublicKey, record: DeviceRecord, proven: Set<DevicePublicKey>) {
        self.enrollment = enrollment
        self.record = record
        self.proven = proven
    }

    /// Takes a newer record, or the same once more; recipients that are not in it are forgotten.
    ///
    /// - Throws: as ``DeviceRecord/check(pinned:topic:replacing:at:)``; then nothing has changed.
    public mutating func accept(_ newer: DeviceRecord, at now: Timestamp) throws(RecordError) {
        try newer.check(pinned: enrollment, topic: record.topic, replacing: record, at: now)
        record = newer
        proven.formIntersection(newer.recipients)
    }

    /// Marks a recipient as the device's own, if this is the answer to the challenge that was sealed to it.
    ///
    /// - Throws: `foreignEnrollment`, `notInRecord`, `late`, `malformed` or `wrongAnswer`; then nothing has changed.
    public mutating func prove(
        _ challenge: PendingChallenge, answer: String, at now: Timestamp
    ) throws(ChallengeError) {
        guard challenge.enrollment == enrollment else { throw .foreignEnrollment }
        guard record.recipients.contains(challenge.recipient) else { throw .notInRecord }
        try challenge.check(answer, at: now)
        proven.insert(challenge.recipient)
    }

    /// The record's recipients that still have to answer a challenge, newest first.
    public var unproven: [DevicePublicKey] { record.recipients.filter { !proven.contains($0) } }

    /// What to seal to now: the newest recipient that is proven.
    ///
    /// - Throws: `expired`, `notYetValid`, or `unproven` where no recipient is proven.
    public func recipient(at now: Timestamp) throws(RecordError) -> VerifiedRecipient {
        try record.check(pinned: enrollment, topic: record.topic, replacing: nil, at: now)
        guard let newest = record.recipients.first(where: proven.contains) else { throw .unproven }
        return VerifiedRecipient(newest, keeps: record.keeps)
    }
}

/// A recipient that may be sealed to: it stands in a record that its pinned enrollment key has signed, the record has not
/// expired, and the device has proven that it holds the key.
///
/// Only ``EnrolledDevice`` makes one, so having one is the proof. It is about one moment: make it when it is needed, and
/// do not keep it.
public struct VerifiedRecipient: Hashable, Sendable {
    /// What to seal to.
    public let recipient: DevicePublicKey
    /// For how many days the device keeps the key once it has retired; nil if no record says so.
    package let keeps: Int?

    package init(_ recipient: DevicePublicKey, keeps: Int?) { (self.recipient, self.keeps) = (recipient, keeps) }
}
