internal import PushCore
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
    /// Whether the envelope's text stood in a payload, which says whether iOS starts the extension.
    public let hasPayload: Bool
    /// Whether it is a background push, which the app opens.
    public let isBackground: Bool
    /// Why iOS doesn't even start the extension; nil if it does, or nothing says so.
    public let startFault: StartFault?
    /// Nil where it opens.
    public let refusal: OpenError?
    /// What the keyring knows besides the refusal and the message; nil where it opens, or nothing is known.
    public let cause: Cause?
    /// Nil where there is none.
    public let envelope: Envelope?
    /// The keys in the keyring that match the envelope's hints; nil without an envelope.
    public let matched: MatchedKeys?
    /// What is known of the message; nil where it could not be unsealed.
    public let message: Message?

    /// `opened`, or the stable code of what comes first: `not-started`, or the refusal's.
    public var code: String { startFault == nil ? refusal?.rawValue ?? "opened" : "not-started" }

    /// All of them, in the order of opening. The ledger is never reached: only a device has one.
    public var steps: [Step] {
        let failing = refusal?.facts.step ?? .ledger
        var isReached = true
        return OpenError.Step.allCases.map { step in
            defer { if step == failing { isReached = false } }
            guard isReached, step != .ledger else { return Step(name: step, outcome: .notReached) }
            return Step(name: step, outcome: step == failing ? .failed : .passed)
        }
    }

    public struct Step: Hashable, Sendable {
        public let name: OpenError.Step
        public let outcome: Outcome

        public enum Outcome: String, Sendable {
            case passed, failed
            case notReached = "not-reached"
        }
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
        public let life: KeyLife
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
        /// Whom nobody here knows.
        case stranger
        /// Known, and not trusted. `verdict`: what opening would end with, if the sender were trusted; nil where it would open.
        case untrusted(SenderPublicKey, KeyName?, hasAuthority: Bool, verdict: OpenError?)
        /// In a sender set that does not count at this time.
        case senderSetOutOfTime(SenderSet)
        /// By a sender of this keyring, for another app.
        case otherApp(Topic)
        /// No key opens it.
        case altered

        /// What is in it: nil where it has wrong padding, or lacks the ID, the topic or the time.
        case content(ContentError?)
    }

    /// Why a payload has no envelope's text.
    public enum FieldError: Error, Hashable, Sendable {
        case tooLong(maximumByteCount: Int)
        case notJSON(JSONFault)
        /// The field is missing, or is not a string.
        case noField(String)
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
        let contents = try read(.full).contents
        let keys = try contents.keys(of: device, .device, isOwn: true).deviceKeys
        let walk = PayloadWalk(
            device: device, keys: InMemoryKeyStore(keys, senderSet: contents.trust.senderSet(for: topic)),
            topic: topic, trusted: trusted ?? contents.trust.trustedSenders(for: topic),
            allowsAnonymous: allowsAnonymous, now: now, contents: contents)
        return walk.diagnose(payload)
    }
}

/// The way of one payload through the steps of Specification 6. ``Opener`` decides; this finds the cause.
private struct PayloadWalk {
    let device: KeyName
    let keys: InMemoryKeyStore
    let topic: Topic
    let trusted: TrustedSenders
    let allowsAnonymous: Bool
    let now: Timestamp
    /// What the keyring knows of names, and of who is trusted elsewhere.
    let contents: KeyringContents

    func diagnose(_ payload: [UInt8]) -> PayloadDiagnosis {
        let (envelope, members): (Envelope, [String: JSONValue]?)
        do throws(PayloadDiagnosis.FieldError) {
            let field: String
            (field, members) = try Self.field(in: payload)
            do throws(EnvelopeError) { envelope = try Envelope(parsing: field) } catch {
                return diagnosis(.malformed, .envelope(error), members)
            }
        } catch { return diagnosis(.malformed, .field(error)) }
        let opener = opener(topic: topic, trusting: trusted)
        let unsealed = try? opener.unseal(envelope, at: now)
        let content = unsealed.flatMap { Self.content(of: $0.plaintext) }
        let message = unsealed.map { unsealed in
            let content = try? content?.get()
            return PayloadDiagnosis.Message(
                id: content?.id, topic: content?.topic, sent: content?.sent, expires: content?.expires,
                recipient: unsealed.key.identity.recipient, sender: unsealed.sender, life: unsealed.key.life)
        }
        do throws(Opener.Refusal) {
            let opened = try opener.open(envelope, at: now)
            return diagnosis(nil, nil, members, envelope, message, isWithdrawal: opened.content.isBackground)
        } catch {
            let refusal = OpenError(error)
            return diagnosis(refusal, cause(of: refusal, envelope, content), members, envelope, message)
        }
    }

    private func diagnosis(
        _ refusal: OpenError?, _ cause: PayloadDiagnosis.Cause?, _ payload: [String: JSONValue]? = nil,
        _ envelope: Envelope? = nil, _ message: PayloadDiagnosis.Message? = nil, isWithdrawal: Bool = false
    ) -> PayloadDiagnosis {
        var fault = payload.flatMap(StartFault.init(payload:))
        let isBackground = fault == .background
        // The app opens it, or finds why not.
        if isBackground, isWithdrawal || refusal != nil { fault = nil }
        return PayloadDiagnosis(
            device: device, topic: topic, now: now, hasPayload: payload != nil, isBackground: isBackground,
            startFault: fault, refusal: refusal, cause: cause, envelope: envelope,
            matched: envelope.map { contents.keys(matching: $0, preferring: device) }, message: message)
    }

    private func opener(topic: Topic, trusting trusted: TrustedSenders) -> Opener {
        Opener(topic: topic, keys: keys, trusting: trusted, allowsAnonymous: allowsAnonymous)
    }

    /// Nil where it is not well-formed.
    private static func content(of plaintext: [UInt8]) -> Result<Content, ContentError>? {
        guard let count = plaintext.withUnsafeBytes({ Padding.contentByteCount(of: $0) }) else { return nil }
        return Result { () throws(ContentError) in try Content(opening: Array(plaintext[..<count])) }
    }
}

extension PayloadWalk {
    private func cause(
        of refusal: OpenError, _ envelope: Envelope, _ content: Result<Content, ContentError>?
    ) -> PayloadDiagnosis.Cause? {
        switch refusal {
        case .unknownRecipient: return unknownRecipient(envelope)
        case .unknownSender: return unknownSender(envelope)
        case .rejected:
            let known = knownSenders(envelope)
            return otherApp(envelope, known + trusted.senders.filter { !known.contains($0) }) ?? .altered
        case .malformedContent:
            guard case .failure(let error)? = content else { return .content(nil) }
            return .content(error)
        case .anonymousNotAllowed, .topic, .keyRetired, .clock, .tooOld, .expired: return nil
        // What only happens earlier, or on a device.
        case .malformed, .locked, .keysUnavailable, .replayed, .ledgerUnavailable, .outOfTime: return nil
        }
    }

    private func unknownRecipient(_ envelope: Envelope) -> PayloadDiagnosis.Cause {
        // A hint is four bytes, so this is not a proof.
        let known = contents.sorted.filter { $0.kind == .device }.flatMap { named in
            named.keys.filter { $0.key.device.map(envelope.matches) ?? false }.map { (name: named.name, key: $0) }
        }
        if let gone = known.first(where: { $0.name == device && !$0.key.life.opens }) {
            return .ownKeyGone(gone.key.life)
        }
        if let other = known.first(where: { $0.name != device }) {
            return .otherDevice(other.name, hasSecret: other.key.secret != nil)
        }
        return .unknownKey
    }

    private func unknownSender(_ envelope: Envelope) -> PayloadDiagnosis.Cause {
        let senders = knownSenders(envelope)
        if let set = keys.senderSet(for: topic), trusted.authorities.contains(set.authority),
            set.senders.contains(where: senders.contains)
        {
            return .senderSetOutOfTime(set)
        }
        guard let sender = senders.first else { return .stranger }
        if let cause = otherApp(envelope, senders) { return cause }
        var verdict: OpenError?
        do throws(Opener.Refusal) {
            _ = try opener(topic: topic, trusting: TrustedSenders(senders)).open(envelope, at: now)
        } catch { verdict = OpenError(error) }
        return .untrusted(
            sender, contents.owner(of: .sender(sender)), hasAuthority: !trusted.authorities.isEmpty, verdict: verdict)
    }

    /// The other app that the keyring knows of, for which one of these senders has sealed it.
    private func otherApp(_ envelope: Envelope, _ senders: [SenderPublicKey]) -> PayloadDiagnosis.Cause? {
        let topics = Set(contents.trust.entries.map(\.topic) + contents.names.values.compactMap(\.topic))
        return topics.subtracting([topic]).sorted { $0.description < $1.description }.prefix(64).first { topic in
            (try? opener(topic: topic, trusting: TrustedSenders(senders)).unseal(envelope, at: now)) != nil
        }.map { .otherApp($0) }
    }

    /// Every sender that the keyring knows of and the hint matches, trusted or not.
    private func knownSenders(_ envelope: Envelope) -> [SenderPublicKey] {
        contents.keys(matching: envelope, preferring: device).recipient.map {
            contents.senders(matching: envelope, sealingTo: $0)
        } ?? []
    }
}

extension PayloadWalk {
    /// - Parameter bytes: what a person has at hand: a payload's JSON, or the field's text with white space around it.
    private static func field(
        in bytes: [UInt8]
    ) throws(PayloadDiagnosis.FieldError) -> (text: String, payload: [String: JSONValue]?) {
        let limit = 65_536
        guard bytes.count <= limit else { throw .tooLong(maximumByteCount: limit) }
        if let text = String(strictUTF8: bytes.trimmingSpace),
            !["{", "[", "\"", "\u{feff}"].contains(text.unicodeScalars.first)
        {
            return (text, nil)
        }
        // Each value is read, not the field alone: the system that delivers a push refuses it whole.
        let members: [String: JSONValue]
        do throws(JSONFault) {
            members = try JSONReader.members(bytes, maximumDepth: JSONReader.maximumPayloadDepth).dictionary
        } catch { throw .notJSON(error) }
        guard case .string(let text)? = members[Envelope.fieldName] else { throw .noField(Envelope.fieldName) }
        return (text, members)
    }
}
