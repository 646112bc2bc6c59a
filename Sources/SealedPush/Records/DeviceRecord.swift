/// A device's recipients, signed by its enrolment key: what a server learns its keys from.
///
/// A value is always one that the enrolment key named in it has signed; whether that key is the device's own is for
/// ``check(pinned:topic:replacing:at:)``, or for ``EnrolledDevice``, which does it at the right moments. At most 1,071
/// characters of text. Source: Specification 11, type 1.
public struct DeviceRecord: Hashable, Sendable {
    private let signed: SignedRecord
    /// Who signed.
    public let enrolment: Enrolment
    /// 1 to 16, none twice, newest first.
    public let recipients: [Recipient]

    /// Reads `pushrecord.…` and verifies its signature; about 200 µs.
    public init(parsing text: String) throws(RecordError) {
        self.init(try SignedRecord(parsing: text, as: .device))
    }

    /// Signs a new record.
    ///
    /// - Parameters:
    ///   - recipients: 1 to 16, none twice, newest first.
    ///   - counter: higher than in any record that this enrolment key has signed for the topic before.
    ///   - expires: after `created`; from the next second on, the record is refused.
    /// - Throws: `malformed` where a parameter breaks these rules.
    public init(
        of recipients: [Recipient], topic: Topic, counter: UInt64, created: Timestamp, expires: Timestamp,
        signedBy key: EnrolmentKey
    ) throws(RecordError) {
        self.init(
            try SignedRecord(
                .device, counter: counter, created: created, expires: expires, topic: topic,
                keys: recipients.map(\.publicKey), signedBy: key.secretKey))
    }

    private init(_ signed: SignedRecord) {
        self.signed = signed
        enrolment = Enrolment(signed.signer)
        recipients = signed.keys.map(Recipient.init)
    }

    /// Only rises, from one record of a device to the next.
    public var counter: UInt64 { signed.counter }
    /// When it was signed.
    public var created: Timestamp { signed.created }
    /// The last second at which it is believed.
    public var expires: Timestamp { signed.expires }
    /// The app it is for.
    public var topic: Topic { signed.topic }

    /// Whether this record is to be believed.
    ///
    /// - Parameters:
    ///   - enrolment: the device's own, as pinned inside the app's login; never taken from the record itself.
    ///   - topic: the app's own.
    ///   - known: the newest record of the device so far, by the pinned enrolment. Of another topic, it counts as none.
    /// - Throws: in this order `foreignSigner`, `otherTopic`, `expired`, `notYetValid`, `rolledBack`, `conflicting`.
    public func check(
        pinned enrolment: Enrolment, topic: Topic, replacing known: DeviceRecord?, at now: Timestamp
    ) throws(RecordError) {
        try signed.check(pinned: enrolment.publicKey, topic: topic, replacing: known?.signed, at: now)
    }
}

extension DeviceRecord: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads. There is nothing secret in it.
    public var description: String { signed.text }
}
