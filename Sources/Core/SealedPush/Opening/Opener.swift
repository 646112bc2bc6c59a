internal import PushCore

/// Opens envelopes on a device: finds the keys, checks the sender, the content, the topic and the times, in the
/// order of Specification 6, steps 2 to 5. Step 6, the ledger, is the service module's.
///
/// One opener serves any number of messages and threads. Opening costs about 120 µs a key pair tried, at most 16 pairs.
public struct Opener: Sendable {
    private let topic: Topic
    private let keys: any KeyStore
    private let trusted: TrustedSenders
    private let allowsAnonymous: Bool
    private let info: EnvelopeInfo

    /// - Parameters:
    ///   - topic: the app's own bundle ID.
    ///   - keys: the device's keys.
    ///   - trusted: who is believed. With authorities among them, the key store's newest sender set counts.
    ///   - allowsAnonymous: whether sealed boxes open too; then anybody can send.
    public init(topic: Topic, keys: any KeyStore, trusting trusted: TrustedSenders, allowsAnonymous: Bool = false) {
        self.topic = topic
        self.keys = keys
        self.trusted = trusted
        self.allowsAnonymous = allowsAnonymous
        info = EnvelopeInfo(topic: topic)
    }

    /// Opens one envelope.
    ///
    /// Whether it was opened before is for the ledger: an opener takes the same envelope again.
    public func open(_ envelope: Envelope, at now: Timestamp) throws(Refusal) -> OpenedContent {
        try open(candidates(for: envelope, at: now), at: now)
    }

    /// The keys that an envelope's hints match.
    package struct Candidates {
        let envelope: Envelope
        /// Never empty; in the order of trying.
        package let keys: [DeviceKey]
        /// Empty if no trusted sender matches. The sender is nil if anybody may have sealed it.
        package let pairs: ArraySlice<(key: DeviceKey, sender: SenderPublicKey?)>
    }

    /// Step 2, and the senders for step 3.
    package func candidates(for envelope: Envelope, at now: Timestamp) throws(Refusal) -> Candidates {
        let keys = try identities(for: envelope)
        var pairs = keys.map { (key: $0, sender: SenderPublicKey?.none) }
        if envelope.suite.isAuthenticated {
            let senders = try self.senders(at: now)
            pairs = keys.flatMap { key in
                senders.filter { envelope.matches($0, sealingTo: key.identity.recipient) }.map { (key, $0) }
            }
        }
        return Candidates(envelope: envelope, keys: keys, pairs: pairs.prefix(Self.maximumPairCount))
    }

    /// Steps 3 to 5.
    package func open(_ candidates: Candidates, at now: Timestamp) throws(Refusal) -> OpenedContent {
        try check(try unseal(candidates), of: candidates.envelope, at: now)
    }

    /// Unsealed bytes before any check: for finding out why something does not open, and never shown.
    package struct Unsealed {
        package let plaintext: [UInt8]
        package let key: DeviceKey
        /// Nil if anybody may have sealed it.
        package let sender: SenderPublicKey?
    }

    /// Steps 2 to 4 alone.
    package func unseal(_ envelope: Envelope, at now: Timestamp) throws(Refusal) -> Unsealed {
        try unseal(candidates(for: envelope, at: now))
    }

    private func unseal(_ candidates: Candidates) throws(Refusal) -> Unsealed {
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

    /// Whom step 3 looks among.
    private func senders(at now: Timestamp) throws(Refusal) -> [SenderPublicKey] {
        // Apps without an authority ask their store for nothing more.
        guard !trusted.authorities.isEmpty else { return trusted.senders }
        let set: SenderSet?
        do { set = try keys.senderSet(for: topic) } catch { throw Refusal(error) }
        return trusted.senders(following: set, topic: topic, at: now)
    }

    private func identities(for envelope: Envelope) throws(Refusal) -> [DeviceKey] {
        let found: [DeviceKey]
        do { found = try keys.keys(matching: envelope.matches) } catch { throw Refusal(error) }
        // A store may be careless: about keys that do not match, and about keys that must not open any more.
        let matching = found.filter { $0.life.opens && envelope.matches($0.identity.recipient) }
        guard !matching.isEmpty else { throw .unknownRecipient }
        return matching.sorted(by: DeviceKey.isTriedBefore)
    }

    /// Specification 3.2.3: more pairs that match are an attack, or a strange accident.
    private static let maximumPairCount = 16
}

extension Opener {
    /// An opener for senders that are known one by one.
    public init(topic: Topic, keys: any KeyStore, trusting senders: [SenderPublicKey], allowsAnonymous: Bool = false) {
        self.init(topic: topic, keys: keys, trusting: TrustedSenders(senders), allowsAnonymous: allowsAnonymous)
    }

    /// Step 5: every suite, on the opened plaintext.
    private func check(
        _ unsealed: Unsealed, of envelope: Envelope, at now: Timestamp
    ) throws(Refusal) -> OpenedContent {
        let (plaintext, key, sender) = (unsealed.plaintext, unsealed.key, unsealed.sender)
        guard let count = plaintext.withUnsafeBytes({ Padding.contentByteCount(of: $0) }),
            var content = try? Content(opening: Array(plaintext[..<count])),
            let id = content.id, let topic = content.topic, let sent = content.sent,
            // Source: Specification 21.2.
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

extension Opener.Refusal {
    fileprivate init(_ error: KeyStoreError) {
        switch error {
        case .locked: self = .locked
        case .unavailable: self = .keysUnavailable
        }
    }
}

/// The times of Specification 6.4, in seconds.
package enum TimeRules {
    /// How far ahead of the device's clock content may be.
    package static func maximumLead(isAnonymous: Bool) -> Int64 { isAnonymous ? 600 : 26 * 3_600 }
    package static let maximumAge: Int64 = 30 * 86_400
    /// How long after `expires` content still opens.
    package static let expiryGrace: Int64 = 600
}

extension Content {
    /// Specification 3.6.4: from a sender that nobody vouches for, nothing is fetched, nobody is told, nothing is loud.
    fileprivate mutating func limitToAnonymous() {
        (attachments, overflow, chart, person, receipt, isTemplate) = ([], nil, nil, nil, nil, false)
        if interruptionLevel == .timeSensitive || interruptionLevel == .critical { interruptionLevel = .active }
        if case .critical(let name, _)? = sound { sound = .named(name) }
    }
}

extension Envelope {
    /// Specification 7.2: BLAKE2b-256 over what no two messages share.
    fileprivate func ledgerKey(recipient: DevicePublicKey, sender: SenderPublicKey?) -> [UInt8] {
        var bytes = [suite.identifier] + recipient.bytes
        // `enc` and the number, or the whole box.
        bytes += sender.map { $0.bytes + headerBytes[suite.enc.lowerBound...] } ?? Array(sealedBytes)
        return BLAKE2b.hash(bytes, byteCount: 32)
    }
}
