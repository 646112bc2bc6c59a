/// The senders of an app, signed by its authority: what a device learns from whom to believe.
///
/// A value is always one that the authority named in it has signed; whether that is the app's own authority is for
/// ``check(pinned:topic:replacing:at:)``. At most 1,071 characters of text. Source: Specification 11, type 2.
public struct SenderSet: Hashable, Sendable {
    private let signed: SignedRecord
    /// Who signed.
    public let authority: Authority
    /// 1 to 16, none twice, newest first.
    public let senders: [Sender]

    /// Reads `pushrecord.…` and verifies its signature; about 200 µs.
    public init(parsing text: String) throws(RecordError) {
        self.init(try SignedRecord(parsing: text, as: .senderSet))
    }

    /// Signs a new set.
    ///
    /// - Parameters:
    ///   - senders: 1 to 16, none twice, newest first.
    ///   - counter: higher than in any set that this authority has signed for the topic before.
    ///   - expires: after `created`; from the next second on, the set is refused.
    /// - Throws: `malformed` where a parameter breaks these rules.
    public init(
        of senders: [Sender], topic: Topic, counter: UInt64, created: Timestamp, expires: Timestamp,
        signedBy key: AuthorityKey
    ) throws(RecordError) {
        self.init(
            try SignedRecord(
                .senderSet, counter: counter, created: created, expires: expires, topic: topic,
                keys: senders.map(\.publicKey), signedBy: key.secretKey))
    }

    private init(_ signed: SignedRecord) {
        self.signed = signed
        authority = Authority(signed.signer)
        senders = signed.keys.map(Sender.init)
    }

    /// Only rises, from one set of an authority to the next.
    public var counter: UInt64 { signed.counter }
    /// When it was signed.
    public var created: Timestamp { signed.created }
    /// The last second at which it is believed.
    public var expires: Timestamp { signed.expires }
    /// The app it is for.
    public var topic: Topic { signed.topic }

    /// Whether this set is to be believed.
    ///
    /// - Parameters:
    ///   - authority: the app's own, compiled into it; never taken from the set itself.
    ///   - topic: the app's own.
    ///   - known: the newest set so far of any authority that is still pinned, kept beside the keys. Of another topic, it
    ///     counts as none.
    /// - Throws: in this order `foreignSigner`, `otherTopic`, `expired`, `notYetValid`, `rolledBack`, `conflicting`.
    public func check(
        pinned authority: Authority, topic: Topic, replacing known: SenderSet?, at now: Timestamp
    ) throws(RecordError) {
        try signed.check(pinned: authority.publicKey, topic: topic, replacing: known?.signed, at: now)
    }
}

extension SenderSet: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads. There is nothing secret in it.
    public var description: String { signed.text }
}
