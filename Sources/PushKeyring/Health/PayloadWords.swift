internal import SealedPush

/// The words about one payload's way: what passed, what failed and what to do.
struct PayloadWords {
    let walk: PayloadWalk
    let envelope: Envelope
    /// Nil where no key opens it.
    let unsealed: Opener.Unsealed?
    /// Nil where there is none, or its padding is wrong.
    let content: Result<Content, ContentError>?

    var message: PayloadDiagnosis.Message? {
        guard let unsealed else { return nil }
        let content = try? content?.get()
        return PayloadDiagnosis.Message(
            id: content?.id, topic: content?.topic, sent: content?.sent, expires: content?.expires,
            recipient: unsealed.key.identity.recipient, sender: unsealed.sender)
    }

    /// What is said of a step that holds.
    func passing(_ name: PayloadDiagnosis.Step.Name) -> String? {
        switch name {
        case .envelope: "a well-formed envelope of \(envelope.bytes.count) bytes"
        case .recipient: "it names the key \(envelope.recipientKeyID), which \(walk.device) has"
        case .sender: passingSender
        case .unsealing: "it opens: nothing was altered"
        case .content: "the content is well-formed"
        case .topic: "it is meant for \(walk.topic)"
        case .key: passingKey
        case .clock: sent.map { "this clock agrees: it was sent on \(TimeWords.moment($0))" }
        case .age: sent.map(passingAge)
        case .expiry:
            expires.map { "it expires on \(TimeWords.moment($0)), \(distance($0))" } ?? "it does not expire by itself"
        case .ledger: nil
        }
    }

    private var passingSender: String {
        guard case .authenticated(let header) = envelope.header else {
            return "anybody may have sealed it, which is allowed"
        }
        let name = unsealed?.sender.flatMap { walk.owner(of: .sender($0)) }.map { " (\($0))" } ?? ""
        return "it names the sender \(header.senderKeyID)\(name), who is trusted"
    }

    private var passingKey: String {
        guard let life = unsealed?.key.life, let until = life.opensUntil else { return "the key is in use" }
        return "the key is retired, and opens what was sent until \(TimeWords.moment(until))"
    }

    /// What was sent ahead of this clock, by a little, is as new as can be.
    private func passingAge(_ sent: Timestamp) -> String {
        let seconds = max(0, walk.now.seconds(since: sent))
        return "it is \(TimeWords.span(seconds)) old; up to \(TimeWords.span(TimeRules.maximumAge)) are allowed"
    }

    var sent: Timestamp? { try? content?.get().sent }
    var expires: Timestamp? { try? content?.get().expires }

    /// `3 days ago`, `5 minutes ahead`
    func distance(_ moment: Timestamp) -> String {
        let seconds = moment.seconds(since: walk.now)
        return seconds > 0 ? "\(TimeWords.span(seconds)) ahead" : "\(TimeWords.span(seconds)) ago"
    }
}
