internal import SealedPush

extension PayloadWords {
    typealias Explanation = (words: String, advice: String)

    /// What is said of the step that fails.
    func explanation(_ refusal: OpenError) -> Explanation {
        switch refusal {
        case .unknownRecipient: unknownRecipient
        case .unknownSender: unknownSender
        case .anonymousNotAllowed:
            (
                "it has no sender, and anonymous messages are not allowed",
                "seal it with a sender's key, or allow anonymous messages in the app"
            )
        case .rejected: rejected
        case .malformedContent: malformedContent
        case .topic, .keyRetired, .clock, .tooOld, .expired: late(refusal)
        case .malformed, .locked, .keysUnavailable, .replayed, .ledgerUnavailable, .outOfTime:
            ("it ends with \(refusal.rawValue)", "try again")
        }
    }

    private var unknownRecipient: Explanation {
        let id = envelope.recipientKeyID
        let known = walk.keys(.device, with: id)
        let own = known.filter { $0.entry.name == walk.device }
        if let gone = own.first(where: { !$0.key.life.opens }) {
            let life = gone.key.life
            let fate =
                life.erased.map { "erased on \(TimeWords.day($0))" }
                ?? life.revoked.map { "revoked on \(TimeWords.day($0))" } ?? "taken out of use"
            return (
                "the key \(id) of \(walk.device) was \(fate), and opens nothing more",
                "give the sender the device's newest record; this message has to be sealed again"
            )
        }
        if let other = known.first(where: { $0.entry.name != walk.device }) {
            let name = other.entry.name
            return (
                "it was sealed for \(name), by its key ID \(id)",
                other.key.hasSecret
                    ? "open it as \(name), or find out why the push went to \(walk.device)"
                    : "find out why the push went to \(walk.device); the secret of \(name) is not in this keyring"
            )
        }
        return (
            "it was sealed for another device: no key in this keyring has the ID \(id)",
            "compare it with the recipient that the sender's server has for this device"
        )
    }

    private var unknownSender: Explanation {
        guard case .authenticated(let header) = envelope.header else { return ("it has no sender", "seal it anew") }
        let id = header.senderKeyID
        if let explanation = expiredSet(id) { return explanation }
        let senders = walk.knownSenders(with: id)
        guard let sender = senders.first else {
            return (
                "it names the sender \(id), who is not trusted, and whom this keyring does not know",
                "ask who has this key; trust it only if it is the app's own server"
            )
        }
        if let explanation = otherTopic(senders) { return explanation }
        let name = walk.owner(of: .sender(sender)).map { $0.description } ?? sender.description
        var words = "it names the sender \(id), as \(name) has, who is not trusted for \(walk.topic)"
        if walk.trusted.senders.contains(sender) {
            words =
                "it names the sender \(id), who is listed for \(walk.topic), but the authority's sender set, which counts instead, lacks it"
        }
        switch walk.refusal(of: envelope, trusting: senders) {
        case nil: words += "; trusted, it would open"
        case .rejected: words += "; it was not sealed by it for this app and device, though"
        case let refusal?: words += "; trusted, it would end with \(refusal.rawValue)"
        }
        let advice =
            walk.trusted.authorities.isEmpty
            ? "`sealedpush trust add \(name) --topic \(walk.topic) --keyring \(walk.folder)`, if it is the app's own server"
            : "have the authority sign a set with it, and take that with `sealedpush trust add`"
        return (words, advice)
    }

    /// The authority's newest set holds the sender, and counts no more.
    private func expiredSet(_ id: KeyID) -> Explanation? {
        guard let set = walk.keys.senderSet(for: walk.topic), walk.trusted.authorities.contains(set.authority),
            set.senders.contains(where: { $0.keyID == id })
        else { return nil }
        let isLate = walk.now > set.expires
        return (
            "it names the sender \(id), whose sender set "
                + (isLate
                    ? "expired on \(TimeWords.moment(set.expires)), \(distance(set.expires))"
                    : "was signed ahead of this clock, on \(TimeWords.moment(set.created))"),
            isLate
                ? "have the authority sign a new set, and take it with `sealedpush trust add`"
                : "compare this machine's clock with another one"
        )
    }

    /// The other app of the keyring that one of these senders has sealed it for.
    private func otherTopic(_ senders: [Sender]) -> Explanation? {
        for topic in walk.otherTopics.prefix(Self.maximumTopicCount)
        where (try? walk.opener(topic: topic, trusting: TrustedSenders(senders)).unseal(envelope, at: walk.now)) != nil
        {
            return (
                "it was sealed for the app \(topic), not for \(walk.topic)",
                "if \(topic) is meant, give it as the topic; otherwise seal it for \(walk.topic), or send it to the other app"
            )
        }
        return nil
    }

    private var rejected: Explanation {
        let known: [Sender] =
            if case .authenticated(let header) = envelope.header { walk.knownSenders(with: header.senderKeyID) } else {
                []
            }
        let senders = known + walk.trusted.senders.filter { !known.contains($0) }
        if !senders.isEmpty {
            if let explanation = otherTopic(senders) { return explanation }
            let opener = walk.opener(topic: walk.topic, trusting: TrustedSenders(senders))
            if let sender = try? opener.unseal(envelope, at: walk.now).sender {
                let name = walk.owner(of: .sender(sender)).map { $0.description } ?? sender.description
                return (
                    "it was sealed by \(name), who is not trusted and shares a key ID with somebody who is",
                    "trust it, if it is the app's own server"
                )
            }
        }
        return (
            "no key opens it: it was altered on its way, forged, or sealed for an app that this keyring does not know",
            "compare it, byte by byte, with what was sent; if they are equal, compare topic and keys at both ends"
        )
    }

    private var malformedContent: Explanation {
        let words =
            switch content {
            case nil: "its padding is wrong, or there is nothing in it"
            case .failure(let error): error.description
            case .success: "its content lacks the ID, the topic or the time"
            }
        return ("it opens, but \(words)", "mend the sender: it breaks the format of the content")
    }

    private static let maximumTopicCount = 64
}

extension PayloadWords {
    /// What opened, and is refused for what it says about itself.
    private func late(_ refusal: OpenError) -> Explanation {
        guard let content = try? content?.get(), let sent = content.sent else { return malformedContent }
        let moment = "it was sent on \(TimeWords.moment(sent)), \(distance(sent))"
        let here = "it is \(TimeWords.moment(walk.now)) here"
        switch refusal {
        case .topic:
            return (
                "its content is meant for \(content.topic.map { $0.description } ?? "no app"), not for \(walk.topic)",
                "mend the sender: it puts two topics into one message"
            )
        case .keyRetired:
            let life = unsealed?.key.life
            return (
                "\(moment); its key was retired on \(life?.retired.map(TimeWords.moment) ?? "some day") and opens what was sent until "
                    + (life?.opensUntil.map(TimeWords.moment) ?? "then"),
                "give the sender the device's newest record; if no sender of yours seals to the old key, it may be stolen: revoke it"
            )
        case .clock:
            let limit = TimeWords.span(TimeRules.maximumLead(isAnonymous: unsealed?.sender == nil))
            return ("\(moment), and \(here): more than \(limit)", "compare the clocks of sender and device")
        case .tooOld:
            return (
                "\(moment), and \(here): more than \(TimeWords.span(TimeRules.maximumAge))",
                "seal it again; if it is new, compare the clocks of sender and device"
            )
        case .expired:
            let expires = content.expires ?? sent
            return (
                "it expired on \(TimeWords.moment(expires)), \(distance(expires)), and \(here)",
                "seal it again, or with a later `expires`; if it is new, compare the clocks"
            )
        default: return malformedContent
        }
    }
}
