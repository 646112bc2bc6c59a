@testable import PushCore
@testable import PushSender
@testable import SealedPush

/// A device with an enrollment key and recipients, the server it enrolls with, and their clock.
struct Enrolling: Sendable {
    static let topic = Exchange.topic
    static let now = Exchange.now

    let enrollmentKey = EnrollmentPrivateKey()
    let senderKey = SenderPrivateKey()
    /// Oldest first.
    var identities = [DevicePrivateKey()]

    var enrollment: EnrollmentPublicKey { enrollmentKey.enrollment }
    var recipients: [DevicePublicKey] { identities.reversed().map(\.recipient) }

    func record(
        of recipients: [DevicePublicKey]? = nil, topic: Topic = Self.topic, counter: UInt64 = 7,
        created: Timestamp = Self.now,
        expires: Timestamp = Self.now.advanced(bySeconds: 90 * 86_400)
    ) throws(RecordError) -> DeviceRecord {
        try DeviceRecord(
            of: recipients ?? self.recipients, topic: topic, counter: counter, created: created, expires: expires,
            signedBy: enrollmentKey)
    }

    func device() throws(RecordError) -> EnrolledDevice {
        try EnrolledDevice(pinning: try record(), topic: Self.topic, at: Self.now)
    }

    func challenge(
        to recipient: DevicePublicKey? = nil, of enrollment: EnrollmentPublicKey? = nil, topic: Topic = Self.topic,
        at now: Timestamp = Self.now
    ) -> PendingChallenge {
        PendingChallenge(
            to: recipient ?? recipients[0], of: enrollment ?? self.enrollment, topic: topic, from: senderKey, at: now)
    }

    /// The device's answer to a challenge's text.
    func answer(
        _ text: String, enrollment: EnrollmentPublicKey? = nil, topic: Topic = Self.topic, keys: (any KeyStore)? = nil,
        trusting senders: [SenderPublicKey]? = nil
    ) throws(ChallengeError) -> String {
        try Challenge.answer(
            text, enrollment: enrollment ?? self.enrollment, topic: topic, keys: keys ?? store,
            trusting: senders ?? [senderKey.sender])
    }

    var store: InMemoryKeyStore { InMemoryKeyStore(identities.map { DeviceKey($0, created: Self.now) }) }
}
