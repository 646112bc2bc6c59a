internal import PushCrypto
internal import SealedPush

/// The way of one payload through the steps of Specification 6. ``Opener`` decides; this finds words for it.
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
    /// The keyring's, as it was given.
    let folder: String

    func diagnose(_ payload: [UInt8]) -> PayloadDiagnosis {
        let field: String
        switch PayloadField(of: payload) {
        case .text(let text): field = text
        case .missing(let words): return malformed(words)
        }
        let envelope: Envelope
        do throws(EnvelopeError) { envelope = try Envelope(parsing: field) } catch {
            return malformed(error.description)
        }
        let opener = opener(topic: topic, trusting: trusted)
        let unsealed = try? opener.unseal(envelope, at: now)
        let content = unsealed.flatMap { Self.content(of: $0.plaintext) }
        let words = PayloadWords(walk: self, envelope: envelope, unsealed: unsealed, content: content)
        do throws(OpenError) {
            _ = try opener.open(envelope, at: now)
            return diagnosis(nil, words)
        } catch {
            return diagnosis(error, words)
        }
    }

    func opener(topic: Topic, trusting trusted: TrustedSenders) -> Opener {
        Opener(topic: topic, keys: keys, trusting: trusted, allowsAnonymous: allowsAnonymous)
    }

    /// What opening would end with, if more were trusted; nil where it would open.
    func refusal(of envelope: Envelope, trusting senders: [Sender]) -> OpenError? {
        do throws(OpenError) {
            _ = try opener(topic: topic, trusting: TrustedSenders(senders)).open(envelope, at: now)
            return nil
        } catch {
            return error
        }
    }

    private func malformed(_ words: String) -> PayloadDiagnosis {
        PayloadDiagnosis(
            steps: steps(failingAt: .envelope) { $0 == .envelope ? words : nil }, refusal: .malformed,
            advice: "compare it, byte by byte, with what the sender gave to its transport", message: nil)
    }

    private func diagnosis(_ refusal: OpenError?, _ words: PayloadWords) -> PayloadDiagnosis {
        let failing = refusal?.step
        let explanation = refusal.map(words.explanation)
        let steps = steps(failingAt: failing ?? .ledger) { name in
            name == failing ? explanation?.words : words.passing(name)
        }
        return PayloadDiagnosis(
            steps: steps, refusal: refusal,
            advice: explanation?.advice
                ?? "if a device shows the safe default all the same, look for replayed or out-of-time in its log",
            message: words.message)
    }

    /// Those before `name` are passed. The ledger is never reached: only a device has one.
    private func steps(
        failingAt name: PayloadDiagnosis.Step.Name, words: (PayloadDiagnosis.Step.Name) -> String?
    ) -> [PayloadDiagnosis.Step] {
        var isReached = true
        return PayloadDiagnosis.Step.Name.allCases.map { step in
            defer { if step == name { isReached = false } }
            guard isReached, step != .ledger else {
                let reason = step == .ledger ? "only a device's ledger knows whether it was seen before" : "not reached"
                return PayloadDiagnosis.Step(name: step, outcome: .notReached, words: reason)
            }
            return PayloadDiagnosis.Step(
                name: step, outcome: step == name ? .failed : .passed, words: words(step) ?? "passed")
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
    func owner(of key: PublicKey) -> KeyName? {
        entries.first { $0.keys.contains { $0.key == key } }?.name
    }

    /// Every key in the keyring with this ID. An ID is four bytes, so this is a hint and no proof.
    func keys(_ kind: PublicKey.Kind, with id: KeyID) -> [(entry: KeyringEntry, key: KeyringEntry.Key)] {
        entries.filter { $0.kind == kind }.flatMap { entry in
            entry.keys.filter { $0.key.keyID == id }.map { (entry, $0) }
        }
    }

    /// Every sender with this ID that the keyring knows of, trusted or not.
    func knownSenders(with id: KeyID) -> [Sender] {
        var senders: [Sender] = []
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
        var seen: Set<Sender> = []
        return senders.filter { $0.keyID == id && seen.insert($0).inserted }
    }

    /// Every other app that the keyring knows of, sorted.
    var otherTopics: [Topic] {
        let topics = Set(list.entries.map(\.topic) + entries.compactMap(\.topic)).subtracting([topic])
        return topics.sorted { $0.description < $1.description }
    }
}
