internal import PushKeyring
internal import SealedPush

/// The sentences about a reason code. The table is ``OpenError/words``.
struct ReasonWords {
    /// Advice for an operator who sees this reason in many receipts.
    let hint: String
    /// The sentences about one message, if the message alone explains the reason; nil if the keyring finds its cause, or
    /// if `doctor` never sees it.
    let single: Single?

    struct Single {
        let words: (DiagnosisWords) -> String
        let advice: String
    }

    fileprivate init(hint: String) { (self.hint, single) = (hint, nil) }

    fileprivate init(hint: String, single words: @escaping (DiagnosisWords) -> String, advice: String) {
        (self.hint, single) = (hint, Single(words: words, advice: advice))
    }
}

extension OpenError {
    /// The sentences about each reason, in one place.
    var words: ReasonWords {
        switch self {
        case .malformed:
            ReasonWords(
                hint:
                    "pushes without an envelope reach the app; another server of yours, or a delivery service, sends them"
            )
        case .unknownSuite:
            ReasonWords(
                hint: "a server seals with a suite that these devices' apps don't know yet; update the apps first")
        case .unknownRecipient:
            ReasonWords(
                hint:
                    "messages are sealed to keys that devices no longer have; run `sealedpush doctor`, and have the app report its record"
            )
        case .locked: ReasonWords(hint: "devices were restarted and haven't been unlocked yet; no action needed")
        case .keysUnavailable:
            ReasonWords(hint: "the app's key store fails; check the latest version's keychain access group")
        case .unknownSender:
            ReasonWords(hint: "the app doesn't know the sender; publish a sender set, or wait for an app update")
        case .anonymousNotAllowed:
            ReasonWords(
                hint: "messages are sealed without a sender; none of your servers should do that",
                single: { _ in "it has no sender, and anonymous messages are not allowed" },
                advice: "seal it with a sender's key, or allow anonymous messages in the app")
        case .rejected:
            ReasonWords(
                hint:
                    "the sender, topic, or key isn't the one the device expects, or the message was altered in transit; run `sealedpush doctor`"
            )
        case .malformedContent: ReasonWords(hint: "a sender seals malformed content; check its version")
        case .topic:
            ReasonWords(
                hint: "content for another app is sealed to this app's keys; check --topic",
                single: { "its content is for \($0.message?.topic?.description ?? "no app"), not for \($0.topic)" },
                advice: "fix the sender, which puts two topics into one message")
        case .keyRetired:
            ReasonWords(
                hint: "a sender still seals to keys that were replaced; give all servers the newest records",
                single: { it in
                    let retired = it.message?.life.retired.map(TimeText.second) ?? "an unknown date"
                    let end = it.message?.life.opensUntil.map(TimeText.second) ?? "then"
                    return
                        "\(it.sent), but its key was retired on \(retired) and opens only messages sent up to \(end)"
                },
                advice:
                    "give the sender the device's newest record; if none of your senders seals to the old key, it may have been stolen, so revoke it"
            )
        case .clock:
            ReasonWords(
                hint: "a server's clock is ahead",
                single: { it in
                    let limit = TimeRules.maximumLead(isAnonymous: it.message?.sender == nil)
                    return "\(it.sent), but \(it.here); a message may be ahead by up to \(TimeText.longSpan(limit))"
                },
                advice: "compare the clocks of the sender and the device")
        case .tooOld:
            ReasonWords(
                hint:
                    "content is more than 30 days old when it arrives; check the server's clock and `outbox status`",
                single: { "\($0.sent), but \($0.here); a message may be up to \($0.maximumAge) old" },
                advice: "seal it again; if it is new, compare the clocks of the sender and the device")
        case .expired:
            ReasonWords(
                hint: "pushes arrive after their content has expired; use a later expiry",
                single: { it in
                    let expires = it.message?.expires ?? it.diagnosis.now
                    return "it expired on \(TimeText.second(expires)), \(it.distance(expires)), and \(it.here)"
                },
                advice: "seal it again, or with a later `expires`; if it is new, compare the clocks")
        case .replayed:
            ReasonWords(
                hint:
                    "pushes are arriving twice under different IDs; either a server sends them without apns-id and apns-collapse-id, or they are being replayed"
            )
        case .ledgerUnavailable:
            ReasonWords(
                hint:
                    "devices can't write to the shared container; disks are full, the app group is wrong, or a ledger is damaged"
            )
        case .outOfTime: ReasonWords(hint: "devices ran out of time before opening; check the earlier stages")
        }
    }
}
