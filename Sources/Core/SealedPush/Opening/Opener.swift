internal import PushCore

/// Opens envelopes on a device: finds the keys, unseals, and checks the content.
///
/// A push carries an ``Envelope`` that anyone could have written: the server, but also Apple, a relay, or a thief of the
/// device's token. An opener turns it into ``OpenedContent``, or throws the reason why not. Nothing else creates opened
/// content, so code that gets some needs no checks of its own.
///
/// ```swift
/// let opener = Opener(topic: "com.example.app", keys: keys, trusting: [server])
/// let opened = try opener.open(Envelope(parsing: text), at: .now())
/// ```
/// Apps rarely create an opener themselves. The service module does for each push, and adds what an opener lacks: the
/// ledger, a time budget, and the text that is shown if a message doesn't open. Tools and tests open directly.
///
/// An envelope has passed step 1 of Specification 6. An opener performs these:
///
/// - Step 2: The first hint selects the device's keys that may open the envelope.
/// - Step 3: The second hint selects the trusted senders that may have sealed it. A sealed box, which has no sender, needs
///   the app's permission.
/// - Step 4: Each pair of key and sender is tried until the tag is right, at most 16. If it never is, the reason is
///   `rejected`, and nothing tells which part of a forgery was good.
/// - Step 5: The content must be well-formed, for this app, at most 30 days old, not from the future, and not expired. Here,
///   reasons are precise, because only a trusted sender gets this far. Content in a sealed box, which anyone can send, loses
///   whatever a stranger may not cause, such as attachments, receipts, and loud alerts.
///
/// No envelope stops the program. Opening takes about 120 µs for each pair tried.
///
/// An opener doesn't detect repeats: it opens the same envelope again, with the same result. That is step 6, the ledger's.
/// It also can't tell whether a sender's key was stolen. For that, an app trusts an authority, whose newest sender set
/// applies to the next envelope.
///
/// One opener serves any number of messages, on any number of threads. It holds no secret: it asks the key store for each
/// envelope, so a new or revoked key counts at once.
public struct Opener: Sendable {
    private let topic: Topic
    private let keys: any KeyStore
    private let trusted: TrustedSenders
    private let allowsAnonymous: Bool
    private let info: EnvelopeInfo

    /// - Parameters:
    ///   - topic: the app's own bundle ID.
    ///   - keys: the device's keys.
    ///   - trusted: the trusted senders. If they include authorities, the key store's newest sender set of these applies.
    ///   - allowsAnonymous: whether to open sealed boxes, too, which anyone can send.
    public init(topic: Topic, keys: any KeyStore, trusting trusted: TrustedSenders, allowsAnonymous: Bool = false) {
        self.topic = topic
        self.keys = keys
        self.trusted = trusted
        self.allowsAnonymous = allowsAnonymous
        info = EnvelopeInfo(topic: topic)
    }

    /// Opens one envelope. Doesn't detect repeats, which is the ledger's job: an opener accepts the same envelope again.
    ///
    /// - Throws: Any ``OpenError`` but `malformed`, `unknownSuite`, `replayed`, `ledgerUnavailable`, and `outOfTime`, which involve a payload's
    ///   field, a ledger, or a time limit.
    public func open(_ envelope: Envelope, at now: Timestamp) throws(OpenError) -> OpenedContent {
        try open(candidates(for: envelope, at: now), at: now)
    }

    /// The keys that an envelope's hints match.
    package struct Candidates {
        let envelope: Envelope
        /// The keys in the order in which they are tried; never empty.
        package let keys: [DeviceKey]
        /// Empty if no trusted sender matches. The sender is nil if anyone may have sealed the envelope.
        package let pairs: ArraySlice<(key: DeviceKey, sender: SenderPublicKey?)>

        /// Returns the first pairs, for a device that tries the keys of several accounts on one envelope.
        package func limited(to pairCount: Int) -> Candidates {
            Candidates(envelope: envelope, keys: keys, pairs: pairs.prefix(pairCount))
        }
    }

    /// Performs step 2, and finds the senders for step 3.
    package func candidates(for envelope: Envelope, at now: Timestamp) throws(OpenError) -> Candidates {
        let keys = try identities(for: envelope)
        var pairs = keys.map { (key: $0, sender: SenderPublicKey?.none) }
        if envelope.suite.isAuthenticated {
            let senders = try trustedSenders(at: now)
            pairs = keys.flatMap { key in
                senders.filter { envelope.matches($0, sealingTo: key.identity.recipient) }.map { (key, $0) }
            }
        }
        return Candidates(envelope: envelope, keys: keys, pairs: pairs.prefix(Envelope.maximumPairCount))
    }

    /// Performs steps 3 to 5.
    package func open(_ candidates: Candidates, at now: Timestamp) throws(OpenError) -> OpenedContent {
        try check(try unseal(candidates), of: candidates.envelope, at: now)
    }

    /// Unsealed bytes before any check, only to find out why a message doesn't open. Never show them.
    package struct Unsealed {
        package let plaintext: [UInt8]
        package let key: DeviceKey
        /// The sender, or nil if anyone may have sealed it.
        package let sender: SenderPublicKey?
    }

    /// Performs only steps 2 to 4.
    package func unseal(_ envelope: Envelope, at now: Timestamp) throws(OpenError) -> Unsealed {
        try unseal(candidates(for: envelope, at: now))
    }

    private func unseal(_ candidates: Candidates) throws(OpenError) -> Unsealed {
        let envelope = candidates.envelope
        guard envelope.suite.isAuthenticated || allowsAnonymous else { throw .anonymousNotAllowed }
        guard !candidates.pairs.isEmpty else { throw .unknownSender }
        for pair in candidates.pairs {
            var plaintext = [UInt8](repeating: 0, count: envelope.plaintextByteCount)
            let isOpen = plaintext.withUnsafeMutableBytes {
                envelope.open(with: pair.key.identity, from: pair.sender, info: info, into: $0)
            }
            if isOpen { return Unsealed(plaintext: plaintext, key: pair.key, sender: pair.sender) }
        }
        throw .rejected
    }

    /// Returns the senders that step 3 searches.
    package func trustedSenders(at now: Timestamp) throws(OpenError) -> [SenderPublicKey] {
        // Without an authority, the store isn't asked for a sender set.
        guard !trusted.authorities.isEmpty else { return trusted.senders }
        let set: SenderSet?
        do { set = try keys.senderSet(for: topic, of: trusted.authorities) } catch { throw OpenError(error) }
        return trusted.senders(following: set, topic: topic, at: now)
    }

    private func identities(for envelope: Envelope) throws(OpenError) -> [DeviceKey] {
        let found: [DeviceKey]
        var hints = RecipientHints(envelope: envelope)
        do { found = try keys.keys { hints.match($0) } } catch { throw OpenError(error) }
        // A store may return keys that don't match, or that must no longer open messages.
        let matching = found.filter { $0.life.opens && hints.match($0.identity.recipient) }
        guard !matching.isEmpty else { throw .unknownRecipient }
        return matching.sorted(by: DeviceKey.isTriedBefore)
    }
}

/// Which keys an envelope's recipient hint matches. Remembers the answers, since a hint is a hash over the whole key, and
/// both the key store and the opener ask.
private struct RecipientHints {
    let envelope: Envelope
    /// A dictionary would hash the keys, too.
    private var answers: [(recipient: DevicePublicKey, isMatch: Bool)] = []

    init(envelope: Envelope) { self.envelope = envelope }

    mutating func match(_ recipient: DevicePublicKey) -> Bool {
        if let known = answers.first(where: { $0.recipient == recipient }) { return known.isMatch }
        let isMatch = envelope.matches(recipient)
        answers.append((recipient, isMatch))
        return isMatch
    }
}

extension Opener {
    /// Creates an opener for individually known senders.
    public init(topic: Topic, keys: any KeyStore, trusting senders: [SenderPublicKey], allowsAnonymous: Bool = false) {
        self.init(topic: topic, keys: keys, trusting: TrustedSenders(senders), allowsAnonymous: allowsAnonymous)
    }

    /// Performs step 5 on the opened plaintext, for every suite.
    private func check(
        _ unsealed: Unsealed, of envelope: Envelope, at now: Timestamp
    ) throws(OpenError) -> OpenedContent {
        let (plaintext, key, sender) = (unsealed.plaintext, unsealed.key, unsealed.sender)
        guard let count = plaintext.withUnsafeBytes({ Padding.contentByteCount(of: $0) }),
            var content = try? Content(opening: Array(plaintext[..<count])),
            let id = content.id, let topic = content.topic, let sent = content.sent,
            // Source: ContentParts 21.2.
            content.withdrawal == nil || sender != nil
        else { throw .malformedContent }
        guard topic == self.topic else { throw .topic }
        if let until = key.life.opensUntil, sent > until { throw .keyRetired }
        guard sent.seconds(since: now) <= TimeRules.maximumLead(isAnonymous: sender == nil) else { throw .clock }
        guard now.seconds(since: sent) <= TimeRules.maximumAge else { throw .tooOld }
        if let expires = content.expires, now.seconds(since: expires) > TimeRules.expiryGrace { throw .expired }
        if sender == nil { content.limitToAnonymous() }
        return OpenedContent(
            content: content, id: id, topic: topic, sent: sent, sender: sender, recipient: key.identity.recipient,
            ledgerKey: envelope.ledgerKey(recipient: key.identity.recipient, sender: sender))
    }
}

extension Envelope {
    /// Performs step 1 on the payload's field, nil if it isn't a string.
    package init(field: String?) throws(OpenError) {
        guard let field else { throw .malformed }
        do throws(EnvelopeError) { try self.init(parsing: field) } catch { throw OpenError(error) }
    }
}

extension OpenError {
    package init(_ error: KeyStoreError) {
        switch error {
        case .locked: self = .locked
        case .unavailable: self = .keysUnavailable
        }
    }
}

extension Content {
    /// Specification 3.6.4: an unproven sender can't cause downloads, receipts, or loud alerts, or pass a Focus.
    mutating func limitToAnonymous() {
        (attachments, overflow, chart, receipt, isTemplate) = ([], nil, nil, nil, false)
        (person, group) = (nil, nil)
        filterCriteria = nil
        (alert.titleTranslation, alert.subtitleTranslation, alert.bodyTranslation) = (nil, nil, nil)
        if interruptionLevel == .timeSensitive || interruptionLevel == .critical { interruptionLevel = .active }
        if case .critical(let name, _)? = sound { sound = .named(name) }
    }
}

extension Envelope {
    /// Specification 7.2: BLAKE2b-256 over bytes that are unique to each message.
    func ledgerKey(recipient: DevicePublicKey, sender: SenderPublicKey?) -> [UInt8] {
        var bytes = [suite.rawValue] + recipient.bytes
        // `enc` and the number, or the whole box.
        bytes += sender.map { $0.bytes + headerBytes[suite.enc.lowerBound...] } ?? Array(sealedBytes)
        return BLAKE2b.hash(bytes, byteCount: 32)
    }
}
