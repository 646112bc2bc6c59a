internal import PushCore
internal import SealedPush

/// The way of one payload through the steps of Specification 6. ``Opener`` decides; this finds the cause.
struct PayloadWalk {
    let device: KeyName
    let keys: InMemoryKeyStore
    let topic: Topic
    let trusted: TrustedSenders
    let allowsAnonymous: Bool
    let now: Timestamp
    /// What the keyring knows of names, and of who is trusted elsewhere.
    let entries: [KeyringEntry]
    let list: TrustList

    func diagnose(_ payload: [UInt8]) -> PayloadDiagnosis {
        let envelope: Envelope
        do throws(PayloadDiagnosis.FieldError) {
            let field = try PayloadField.text(in: payload)
            do throws(EnvelopeError) { envelope = try Envelope(parsing: field) } catch {
                return diagnosis(.malformed, .envelope(error))
            }
        } catch { return diagnosis(.malformed, .field(error)) }
        let opener = opener(topic: topic, trusting: trusted)
        let unsealed = try? opener.unseal(envelope, at: now)
        let content = unsealed.flatMap { Self.content(of: $0.plaintext) }
        do throws(OpenError) {
            _ = try opener.open(envelope, at: now)
            return diagnosis(nil, nil, envelope, unsealed, content)
        } catch {
            let causes = PayloadCauses(walk: self, envelope: envelope, unsealed: unsealed, content: content)
            return diagnosis(error, causes.cause(of: error), envelope, unsealed, content)
        }
    }

    func opener(topic: Topic, trusting trusted: TrustedSenders) -> Opener {
        Opener(topic: topic, keys: keys, trusting: trusted, allowsAnonymous: allowsAnonymous)
    }

    /// What opening would end with, if more were trusted; nil where it would open.
    func refusal(of envelope: Envelope, trusting senders: [SenderPublicKey]) -> OpenError? {
        do throws(OpenError) {
            _ = try opener(topic: topic, trusting: TrustedSenders(senders)).open(envelope, at: now)
            return nil
        } catch { return error }
    }

    private func diagnosis(
        _ refusal: OpenError?, _ cause: PayloadDiagnosis.Cause?, _ envelope: Envelope? = nil,
        _ unsealed: Opener.Unsealed? = nil, _ content: Result<Content, ContentError>? = nil
    ) -> PayloadDiagnosis {
        let content = try? content?.get()
        return PayloadDiagnosis(
            device: device, topic: topic, now: now, steps: steps(failingAt: refusal?.facts.step ?? .ledger),
            refusal: refusal, cause: cause, outside: envelope.map(PayloadDiagnosis.Outside.init),
            senderName: unsealed?.sender.flatMap { owner(of: .sender($0)) },
            message: unsealed.map { unsealed in
                PayloadDiagnosis.Message(
                    id: content?.id, topic: content?.topic, sent: content?.sent, expires: content?.expires,
                    recipient: unsealed.key.identity.recipient, sender: unsealed.sender, life: unsealed.key.life)
            })
    }

    /// Those before `name` are passed. The ledger is never reached: only a device has one.
    private func steps(failingAt name: OpenError.Step) -> [PayloadDiagnosis.Step] {
        var isReached = true
        return OpenError.Step.allCases.map { step in
            defer { if step == name { isReached = false } }
            guard isReached, step != .ledger else { return PayloadDiagnosis.Step(name: step, outcome: .notReached) }
            return PayloadDiagnosis.Step(name: step, outcome: step == name ? .failed : .passed)
        }
    }

    /// Nil where it is not well-formed.
    private static func content(of plaintext: [UInt8]) -> Result<Content, ContentError>? {
        guard let count = plaintext.withUnsafeBytes({ Padding.contentByteCount(of: $0) }) else { return nil }
        return Result { () throws(ContentError) in try Content(opening: Array(plaintext[..<count])) }
    }
}

extension PayloadWalk {
    /// Whose key this is in the keyring.
    func owner(of key: AnyPublicKey) -> KeyName? {
        entries.first { $0.keys.contains { $0.key == key } }?.name
    }

    /// Every key in the keyring with this ID. An ID is four bytes, so this is a hint and no proof.
    func keys(_ kind: AnyPublicKey.Kind, with id: KeyID) -> [(entry: KeyringEntry, key: KeyringEntry.Key)] {
        entries.filter { $0.kind == kind }.flatMap { entry in
            entry.keys.filter { $0.key.keyID == id }.map { (entry, $0) }
        }
    }

    /// Every sender with this ID that the keyring knows of, trusted or not.
    func knownSenders(with id: KeyID) -> [SenderPublicKey] {
        var senders: [SenderPublicKey] = []
        for entry in entries {
            for case .sender(let sender) in entry.keys.map(\.key) { senders.append(sender) }
        }
        for entry in list.entries {
            switch entry.trusted {
            case .sender(let sender): senders.append(sender)
            case .senderSet(let set): senders += set.senders
            case .authority: break
            }
        }
        var seen: Set<SenderPublicKey> = []
        return senders.filter { $0.keyID == id && seen.insert($0).inserted }
    }

    /// Every other app that the keyring knows of, sorted.
    var otherTopics: [Topic] {
        let topics = Set(list.entries.map(\.topic) + entries.compactMap(\.topic)).subtracting([topic])
        return topics.sorted { $0.description < $1.description }
    }
}

extension PayloadDiagnosis.Outside {
    fileprivate init(_ envelope: Envelope) {
        self.init(
            byteCount: envelope.bytes.count, recipientKeyID: envelope.recipientKeyID, senderKeyID: envelope.senderKeyID)
    }
}

/// What is behind one refusal.
struct PayloadCauses {
    typealias Cause = PayloadDiagnosis.Cause

    let walk: PayloadWalk
    let envelope: Envelope
    /// Nil where no key opens it.
    let unsealed: Opener.Unsealed?
    /// Nil where there is none, or its padding is wrong.
    let content: Result<Content, ContentError>?

    func cause(of refusal: OpenError) -> Cause {
        switch refusal {
        case .unknownRecipient: unknownRecipient
        case .unknownSender: unknownSender
        case .anonymousNotAllowed: .anonymous
        case .rejected: rejected
        case .malformedContent: malformedContent
        case .topic, .keyRetired, .clock, .tooOld, .expired: late(refusal)
        case .malformed, .locked, .keysUnavailable, .replayed, .ledgerUnavailable, .outOfTime: .onDevice
        }
    }

    private var unknownRecipient: Cause {
        let known = walk.keys(.device, with: envelope.recipientKeyID)
        if let gone = known.first(where: { $0.entry.name == walk.device && !$0.key.life.opens }) {
            return .ownKeyGone(gone.key.life)
        }
        if let other = known.first(where: { $0.entry.name != walk.device }) {
            return .otherDevice(other.entry.name, hasSecret: other.key.hasSecret)
        }
        return .unknownKey
    }

    private var unknownSender: Cause {
        guard let id = envelope.senderKeyID else { return .anonymous }
        if let cause = expiredSet(id) { return cause }
        let senders = walk.knownSenders(with: id)
        guard let sender = senders.first else { return .stranger }
        if let topic = otherTopic(senders) { return .otherApp(topic) }
        return .untrusted(
            sender, walk.owner(of: .sender(sender)), isReplaced: walk.trusted.senders.contains(sender),
            hasAuthority: !walk.trusted.authorities.isEmpty, verdict: walk.refusal(of: envelope, trusting: senders))
    }

    /// The authority's newest set holds the sender, and counts no more.
    private func expiredSet(_ id: KeyID) -> Cause? {
        guard let set = walk.keys.senderSet(for: walk.topic), walk.trusted.authorities.contains(set.authority),
            set.senders.contains(where: { $0.keyID == id })
        else { return nil }
        return walk.now > set.expires ? .senderSetExpired(set.expires) : .senderSetAhead(set.created)
    }

    /// The other app of the keyring that one of these senders has sealed it for.
    private func otherTopic(_ senders: [SenderPublicKey]) -> Topic? {
        walk.otherTopics.prefix(Self.maximumTopicCount).first { topic in
            (try? walk.opener(topic: topic, trusting: TrustedSenders(senders)).unseal(envelope, at: walk.now)) != nil
        }
    }

    private var rejected: Cause {
        let known = envelope.senderKeyID.map(walk.knownSenders) ?? []
        let senders = known + walk.trusted.senders.filter { !known.contains($0) }
        guard !senders.isEmpty else { return .altered }
        if let topic = otherTopic(senders) { return .otherApp(topic) }
        let opener = walk.opener(topic: walk.topic, trusting: TrustedSenders(senders))
        guard let sender = try? opener.unseal(envelope, at: walk.now).sender else { return .altered }
        return .sharedKeyID(sender, walk.owner(of: .sender(sender)))
    }

    private var malformedContent: Cause {
        switch content {
        case nil: .padding
        case .failure(let error): .content(error)
        case .success: .incomplete
        }
    }

    /// What opened, and is refused for what it says about itself.
    private func late(_ refusal: OpenError) -> Cause {
        guard let unsealed, let content = try? content?.get(), let sent = content.sent else { return malformedContent }
        return switch refusal {
        case .topic: .contentTopic(content.topic)
        case .keyRetired: .retired(unsealed.key.life, sent: sent)
        case .clock: .clock(sent: sent, limit: TimeRules.maximumLead(isAnonymous: unsealed.sender == nil))
        case .tooOld: .tooOld(sent: sent)
        case .expired: .expired(content.expires ?? sent)
        default: malformedContent
        }
    }

    private static let maximumTopicCount = 64
}

/// The field of a payload, as text: from its JSON, or by itself.
enum PayloadField {
    /// - Parameter bytes: what a person has at hand: a payload's JSON, or the field's text with white space around it.
    static func text(in bytes: [UInt8]) throws(PayloadDiagnosis.FieldError) -> String {
        guard bytes.count <= maximumByteCount else { throw .tooLong(maximumByteCount: maximumByteCount) }
        guard let text = String(strictUTF8: bytes) else { throw .notUTF8 }
        let trimmed = text.unicodeScalars.drop(while: isSpace)
        guard let first = trimmed.first else { throw .empty }
        switch first {
        case "{": return try textInJSON(bytes)
        case "[", "\"": throw .noObject
        case "\u{feff}": throw .byteOrderMark
        default:
            let end = trimmed.lastIndex { !isSpace($0) }.map(trimmed.index(after:)) ?? trimmed.endIndex
            return String(trimmed[..<end])
        }
    }

    private static func textInJSON(_ bytes: [UInt8]) throws(PayloadDiagnosis.FieldError) -> String {
        // Each value is read, not the field alone: the system that delivers a push refuses it whole.
        let depth = JSONReader.maximumPayloadDepth
        guard let members = JSONReader.object(bytes, maximumByteCount: maximumByteCount, maximumDepth: depth) else {
            throw .noJSON(maximumDepth: depth)
        }
        switch members[Envelope.fieldName] {
        case .string(let text): return text
        case .none: throw .missing(Envelope.fieldName)
        default: throw .noString(Envelope.fieldName)
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { [" ", "\t", "\r", "\n"].contains(scalar) }

    /// Far more than a push has.
    static let maximumByteCount = 65_536
}
