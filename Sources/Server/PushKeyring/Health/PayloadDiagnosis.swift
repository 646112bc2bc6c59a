public import SealedPush

/// Why a payload does not open on a device, step by step: what ``Keyring/diagnose(_:for:topic:trusting:allowsAnonymous:at:)``
/// finds.
///
/// Codes, IDs, names and times only; nothing of the content. Source: Specification 6.
public struct PayloadDiagnosis: Equatable, Sendable {
    /// What it was opened for: the device, its app and the time there.
    public let device: KeyName
    public let topic: Topic
    public let now: Timestamp
    /// All of them, in the order of opening.
    public let steps: [Step]
    /// Nil where it opens.
    public let refusal: OpenError?
    /// Why it was refused, as far as the keyring knows; nil where it opens.
    public let cause: Cause?
    /// What anybody may see; nil where it is no envelope.
    public let outside: Outside?
    /// What the keyring calls the sender; nil where it has no name for it.
    public let senderName: KeyName?
    /// What is known of the message; nil where it could not be unsealed.
    public let message: Message?

    /// `opened`, or the stable code of the refusal.
    public var code: String { refusal?.rawValue ?? "opened" }

    public struct Step: Hashable, Sendable {
        public let name: OpenError.Step
        public let outcome: Outcome

        public enum Outcome: String, Sendable {
            case passed, failed
            case notReached = "not-reached"
        }
    }

    /// What an envelope says in the clear.
    public struct Outside: Hashable, Sendable {
        public let byteCount: Int
        public let recipientKeyID: KeyID
        /// Nil where anybody may have sealed it.
        public let senderKeyID: KeyID?
    }

    /// What a message says about itself, besides its content.
    public struct Message: Hashable, Sendable {
        public let id: MessageID?
        public let topic: Topic?
        public let sent: Timestamp?
        public let expires: Timestamp?
        /// Under which key it was unsealed.
        public let recipient: DevicePublicKey
        /// Who sealed it; nil where anybody may have.
        public let sender: SenderPublicKey?
        /// The life of the key that opened it.
        package let life: KeyLife
    }

    /// What is behind a refusal.
    public enum Cause: Equatable, Sendable {
        // Nothing to open.
        case field(FieldError)
        case envelope(EnvelopeError)

        // Whose key it was sealed for.
        /// One that the device had, and that opens nothing more.
        case ownKeyGone(KeyLife)
        /// One of another name in this keyring.
        case otherDevice(KeyName, hasSecret: Bool)
        /// One that is not in this keyring.
        case unknownKey

        // Who sealed it.
        case anonymous
        /// Whom nobody here knows.
        case stranger
        /// Known, and not trusted. `isReplaced`: listed, but the authority's sender set counts instead, and lacks it.
        /// `verdict`: what opening would end with, if the sender were trusted; nil where it would open.
        case untrusted(SenderPublicKey, KeyName?, isReplaced: Bool, hasAuthority: Bool, verdict: OpenError?)
        /// In a sender set that has expired.
        case senderSetExpired(Timestamp)
        /// In a sender set that was signed ahead of this clock.
        case senderSetAhead(Timestamp)
        /// Not trusted, and shares a key ID with somebody who is.
        case sharedKeyID(SenderPublicKey, KeyName?)
        /// By a sender of this keyring, for another app.
        case otherApp(Topic)
        /// No key opens it.
        case altered

        // What is in it.
        case padding
        case content(ContentError)
        /// It lacks the ID, the topic or the time.
        case incomplete
        case contentTopic(Topic?)
        case retired(KeyLife, sent: Timestamp)
        /// - Parameter limit: seconds.
        case clock(sent: Timestamp, limit: Int64)
        case tooOld(sent: Timestamp)
        case expired(Timestamp)

        /// What only happens on a device.
        case onDevice
    }

    /// Why a payload has no envelope's text.
    public enum FieldError: Error, Hashable, Sendable {
        case tooLong(maximumByteCount: Int)
        case notUTF8
        case empty
        case noObject
        case byteOrderMark
        case noJSON(maximumDepth: Int)
        case missing(String)
        case noString(String)
    }
}

extension Keyring {
    /// Why does this payload not open? Walks the steps that a device takes, with the keys, the trust list and the clock
    /// at hand. The verdict is ``Opener``'s; the cause says what the keyring knows besides.
    ///
    /// Changes nothing and prints no content. At most a few milliseconds, whatever the payload; besides 0.2 s for a
    /// passphrase.
    ///
    /// - Parameters:
    ///   - payload: its JSON, or the text of its field alone; more than 65,536 bytes are malformed without a look.
    ///   - device: one of the keyring's own.
    ///   - topic: the app's.
    ///   - trusted: who is believed; nil for the keyring's trust list.
    ///   - allowsAnonymous: whether the app has allowed sealed boxes.
    /// - Throws: where the device's keys can't be had: the payload was not looked at.
    public func diagnose(
        _ payload: [UInt8], for device: KeyName, topic: Topic, trusting trusted: TrustedSenders? = nil,
        allowsAnonymous: Bool = false, at now: Timestamp = .now()
    ) throws(KeyringError) -> PayloadDiagnosis {
        let keys = try deviceKeys(named: device)
        let list = try trustList()
        let walk = PayloadWalk(
            device: device, keys: InMemoryKeyStore(keys, senderSet: list.senderSet(for: topic)), topic: topic,
            trusted: trusted ?? list.trustedSenders(for: topic), allowsAnonymous: allowsAnonymous, now: now,
            // Unlocked by now, so what was edited is left out.
            entries: try entries().keys, list: list)
        return walk.diagnose(payload)
    }
}
