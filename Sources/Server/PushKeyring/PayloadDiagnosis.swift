internal import PushCore
public import SealedPush

/// The reason that a payload doesn't open on a device, step by step, as found by
/// ``Keyring/diagnose(_:for:topic:trusting:allowsAnonymous:at:)``.
///
/// It contains only codes, IDs, names, and times, and no content. Source: Specification 6.
public struct PayloadDiagnosis: Equatable, Sendable {
    /// The device that the payload was opened for, its app, and its time.
    public let device: KeyName
    /// The app's topic.
    public let topic: Topic
    /// The time on the device.
    public let now: Timestamp
    /// Whether the envelope was in a payload, which determines whether iOS starts the extension.
    public let hasPayload: Bool
    /// Whether this is a background push, which the app opens.
    public let isBackground: Bool
    /// The reason that iOS doesn't start the extension, or nil if it does or that isn't known.
    public let startFault: StartFault?
    /// Nil if the message opens.
    public let refusal: OpenError?
    /// The cause, as far as the keyring can tell. Nil if the message opens, or if the cause is unknown.
    public let cause: Cause?
    /// Nil if there's no envelope.
    public let envelope: Envelope?
    /// The keys in the keyring that match the envelope's hints. Nil without an envelope.
    public let matched: MatchedKeys?
    /// The message's metadata. Nil if it couldn't be unsealed.
    public let message: Message?

    /// `opened`, or the stable code of the first failure: `not-started`, or the refusal's code.
    public var code: String { startFault == nil ? refusal?.rawValue ?? "opened" : "not-started" }

    /// All steps, in the order of opening. The ledger is never reached, because only a device has one.
    public var steps: [Step] {
        let failing = refusal?.facts.step ?? .ledger
        var isReached = true
        return OpenError.Step.allCases.map { step in
            defer { if step == failing { isReached = false } }
            guard isReached, step != .ledger else { return Step(name: step, outcome: .notReached) }
            return Step(name: step, outcome: step == failing ? .failed : .passed)
        }
    }

    /// A step of opening, and how it went.
    public struct Step: Hashable, Sendable {
        /// The step.
        public let name: OpenError.Step
        /// How it went.
        public let outcome: Outcome

        /// How a step went.
        public enum Outcome: String, Sendable {
            /// The step succeeded.
            case passed
            /// The message fails here.
            case failed
            /// An earlier step failed.
            case notReached = "not-reached"
        }
    }

    /// A message's metadata, without its content.
    public struct Message: Hashable, Sendable {
        /// The message's ID, or nil if the content is invalid.
        public let id: MessageID?
        /// The topic for which it was sealed.
        public let topic: Topic?
        /// When it was sealed.
        public let sent: Timestamp?
        /// When it expires.
        public let expires: Timestamp?
        /// The key that unsealed it.
        public let recipient: DevicePublicKey
        /// The sender, or nil if anyone may have sealed it.
        public let sender: SenderPublicKey?
        /// The life of the key that opened it.
        public let life: KeyLife
    }

    /// The cause of a refusal.
    public enum Cause: Equatable, Sendable {
        // There is nothing to open.
        /// The payload doesn't contain an envelope.
        case field(FieldError)
        /// The text in the payload isn't an envelope.
        case envelope(EnvelopeError)

        // The recipient's key.
        /// The device had the key, but it no longer opens messages.
        case ownKeyGone(KeyLife)
        /// The key has another name in this keyring.
        case otherDevice(KeyName, hasSecret: Bool)
        /// The key isn't in this keyring.
        case unknownKey

        // The sender.
        /// The sender is unknown here.
        case stranger
        /// The sender is known, but not trusted. `verdict` is the error if the sender were trusted, or nil if it would open.
        case untrusted(SenderPublicKey, KeyName?, hasAuthority: Bool, verdict: OpenError?)
        /// The sender is in a sender set that isn't valid at this time.
        case senderSetOutOfTime(SenderSet)
        /// A sender in this keyring sealed the message for another app.
        case otherApp(Topic)
        /// No key opens the message.
        case altered

        /// The content's error. Nil if the padding is wrong, or the ID, topic, or time is missing.
        case content(ContentError?)
    }

    /// The reason that a payload doesn't contain an envelope.
    public enum FieldError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The payload is too long to be a push.
        case tooLong(maximumByteCount: Int)
        /// The payload isn't a single JSON object.
        case notJSON(JSONFault)
        /// The field is missing, or isn't a string.
        case noField(String)

        /// One sentence for a developer.
        public var description: String {
            switch self {
            case .tooLong(let limit): "it is larger than \(limit) bytes, too large for a push"
            case .notJSON(let fault): "it is not one JSON object: \(fault)"
            case .noField(let name):
                "it has no text in \"\(name)\"; either it was never sealed, or the field was removed"
            }
        }
    }
}

extension Keyring {
    /// Finds out why a payload doesn't open. It takes the same steps as a device, with the given keys, trust list, and
    /// time. SealedPush's `Opener` returns the verdict; the cause adds details from the keyring.
    ///
    /// Makes no changes, and returns no content. Takes a few milliseconds at most for any payload, plus 0.2 s for a passphrase.
    ///
    /// - Parameters:
    ///   - payload: The payload's JSON, or its field's text alone. Anything over 65,536 bytes is malformed, and isn't read.
    ///   - device: One of the keyring's own devices.
    ///   - topic: The app's topic.
    ///   - trusted: The trusted senders, or nil for the keyring's trust list.
    ///   - allowsAnonymous: Whether the app allows anonymous messages.
    ///   - now: The time on the device.
    /// - Throws: An error if the device's keys aren't available. The payload wasn't examined.
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

/// One payload's path through the steps of Specification 6. ``Opener`` decides; this finds the cause.
private struct PayloadWalk {
    let device: KeyName
    let keys: InMemoryKeyStore
    let topic: Topic
    let trusted: TrustedSenders
    let allowsAnonymous: Bool
    let now: Timestamp
    /// The names in the keyring, and the senders trusted elsewhere.
    let contents: KeyringContents

    func diagnose(_ payload: [UInt8]) -> PayloadDiagnosis {
        let (envelope, members): (Envelope, [String: JSONValue]?)
        do throws(PayloadDiagnosis.FieldError) {
            let input = try PayloadInput(parsing: payload)
            members = input.members
            do throws(EnvelopeError) { envelope = try Envelope(parsing: input.field) } catch {
                return diagnosis(OpenError(error), .envelope(error), members)
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
        do throws(OpenError) {
            let opened = try opener.open(envelope, at: now)
            return diagnosis(nil, nil, members, envelope, message, isWithdrawal: opened.content.isBackground)
        } catch { return diagnosis(error, cause(of: error, envelope, content), members, envelope, message) }
    }

    private func diagnosis(
        _ refusal: OpenError?, _ cause: PayloadDiagnosis.Cause?, _ payload: [String: JSONValue]? = nil,
        _ envelope: Envelope? = nil, _ message: PayloadDiagnosis.Message? = nil, isWithdrawal: Bool = false
    ) -> PayloadDiagnosis {
        var fault = payload.flatMap(StartFault.init(payload:))
        let isBackground = fault == .background
        // The app opens it, or finds out why it can't.
        if isBackground, isWithdrawal || refusal != nil { fault = nil }
        return PayloadDiagnosis(
            device: device, topic: topic, now: now, hasPayload: payload != nil, isBackground: isBackground,
            startFault: fault, refusal: refusal, cause: cause, envelope: envelope,
            matched: envelope.map { contents.keys(matching: $0, preferring: device) }, message: message)
    }

    private func opener(topic: Topic, trusting trusted: TrustedSenders) -> Opener {
        Opener(topic: topic, keys: keys, trusting: trusted, allowsAnonymous: allowsAnonymous)
    }

    /// Returns nil if the plaintext isn't well-formed.
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
        // The message alone explains the other reasons, or they only happen earlier or on a device.
        default: return nil
        }
    }

    private func unknownRecipient(_ envelope: Envelope) -> PayloadDiagnosis.Cause {
        // A hint has only four bytes, so a match isn't proof.
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
        if let set = keys.senderSet(for: topic, of: trusted.authorities),
            set.senders.contains(where: senders.contains)
        {
            return .senderSetOutOfTime(set)
        }
        guard let sender = senders.first else { return .stranger }
        if let cause = otherApp(envelope, senders) { return cause }
        var verdict: OpenError?
        do throws(OpenError) {
            _ = try opener(topic: topic, trusting: TrustedSenders(senders)).open(envelope, at: now)
        } catch { verdict = error }
        return .untrusted(
            sender, contents.owner(of: .sender(sender)), hasAuthority: !trusted.authorities.isEmpty, verdict: verdict)
    }

    /// Returns another app in the keyring for which one of these senders sealed the message.
    private func otherApp(_ envelope: Envelope, _ senders: [SenderPublicKey]) -> PayloadDiagnosis.Cause? {
        let topics = Set(contents.trust.entries.map(\.topic) + contents.names.values.compactMap(\.topic))
        return topics.subtracting([topic]).sorted { $0.description < $1.description }.prefix(64).first { topic in
            (try? opener(topic: topic, trusting: TrustedSenders(senders)).unseal(envelope, at: now)) != nil
        }.map { .otherApp($0) }
    }

    /// Returns every sender in the keyring that matches the hint, trusted or not.
    private func knownSenders(_ envelope: Envelope) -> [SenderPublicKey] {
        contents.keys(matching: envelope, preferring: device).recipient.map {
            contents.senders(matching: envelope, sealingTo: $0)
        } ?? []
    }
}
