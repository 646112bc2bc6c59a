internal import PushKeyring
internal import SealedPush

/// The sentences that describe a diagnosis: the steps that passed, the one that failed, and what to do.
struct DiagnosisWords {
    let diagnosis: PayloadDiagnosis
    /// The keyring's folder, as given.
    let folder: String

    /// The steps that iOS and the device take, each with its name, its outcome, and one sentence.
    var steps: [(name: String, outcome: PayloadDiagnosis.Step.Outcome, words: String)] {
        let own = diagnosis.steps.map { (name: $0.name.rawValue, outcome: $0.outcome, words: words($0)) }
        return start.map { [(name: "start", outcome: $0.outcome, words: $0.words)] + own } ?? own
    }

    /// Returns one sentence about a step.
    func words(_ step: PayloadDiagnosis.Step) -> String {
        switch step.outcome {
        case .passed: passing(step.name) ?? "passed"
        case .failed: failure
        case .notReached:
            step.name == .ledger ? "only a device's ledger can tell whether it is a replay" : "not reached"
        }
    }

    /// One sentence about the step that fails.
    var failure: String { diagnosis.cause.map(words) ?? diagnosis.refusal.map(words) ?? "passed" }

    /// The remedy for the first step that fails.
    var advice: String {
        diagnosis.startFault.map(advice) ?? diagnosis.cause.map(advice) ?? diagnosis.refusal.map(advice)
            ?? (diagnosis.isBackground
                ? "iOS may delay or drop a background push, and doesn't start the extension for it"
                : "if a device still shows the safe default, look for replayed or out-of-time in its log")
    }

    /// One sentence about what iOS does before the envelope is opened, or nil if there is no payload.
    var start: (words: String, outcome: PayloadDiagnosis.Step.Outcome)? {
        guard diagnosis.hasPayload else { return nil }
        return diagnosis.startFault.map { ($0.description, .failed) }
            ?? (diagnosis.isBackground
                ? ("the app opens it, if the push type is background", .passed)
                : ("the system starts the extension, if the push type is alert", .passed))
    }

    private func advice(_ fault: StartFault) -> String {
        switch fault {
        case .background: "seal a withdrawal, or have the transport send `aps` unchanged, with its alert"
        case .noAlert: "have the transport send `aps` unchanged, with its alert; iOS doesn't show this push at all"
        case .notMutable: "have the transport send `aps` unchanged; iOS shows the push as it is"
        }
    }

    private func passing(_ name: OpenError.Step) -> String? {
        let message = diagnosis.message
        return switch name {
        case .envelope: diagnosis.envelope.map { "a well-formed envelope of \($0.bytes.count) bytes" }
        case .recipient:
            diagnosis.matched?.recipient.map { "it is for the key \($0.keyID) of \(diagnosis.device)" }
        case .sender: passingSender
        case .unsealing: "it opens and was not altered"
        case .content: "the content is well-formed"
        case .topic: "it is for \(diagnosis.topic)"
        case .key:
            if let until = message?.life.opensUntil {
                "the key is retired, but opens messages sent up to \(TimeText.second(until))"
            } else {
                "the key is in use"
            }
        case .clock: message?.sent.map { "the clocks agree; it was sent on \(TimeText.second($0))" }
        case .age:
            // A message sent slightly ahead of this clock has an age of zero.
            message?.sent.map {
                "it is \(TimeText.longSpan(max(0, diagnosis.now.seconds(since: $0)))) old; up to \(maximumAge) is allowed"
            }
        case .expiry:
            message?.expires.map { "it expires on \(TimeText.second($0)), \(distance($0))" }
                ?? "it has no expiry"
        case .ledger: nil
        }
    }

    private var passingSender: String {
        guard diagnosis.envelope?.senderHint != nil else { return "it is anonymous, which is allowed" }
        return "its sender, \(senderWords), is trusted"
    }

    /// `708d7ba7 (newsroom)`
    private var senderWords: String {
        let sender = diagnosis.message?.sender ?? diagnosis.matched?.sender
        let name = diagnosis.matched?.senderName.map { " (\($0))" }
        return sender.map { "\($0.keyID)\(name ?? "")" } ?? "given on the command line"
    }

    // MARK: - Phrases

    var message: PayloadDiagnosis.Message? { diagnosis.message }
    var topic: Topic { diagnosis.topic }

    var here: String { "the time here is \(TimeText.second(diagnosis.now))" }

    /// `it was sent on 2026-01-01 10:00:00 UTC, 3 days ago`
    var sent: String {
        let sent = message?.sent ?? diagnosis.now
        return "it was sent on \(TimeText.second(sent)), \(distance(sent))"
    }

    /// `3 days ago`, `5 minutes ahead`
    func distance(_ moment: Timestamp) -> String {
        let seconds = moment.seconds(since: diagnosis.now)
        return "\(TimeText.longSpan(seconds)) \(seconds > 0 ? "ahead" : "ago")"
    }

    var maximumAge: String { TimeText.longSpan(TimeRules.maximumAge) }

    private func words(_ cause: PayloadDiagnosis.Cause) -> String {
        let (device, topic) = (diagnosis.device, diagnosis.topic)
        let recipientID = diagnosis.matched?.recipient.map { "\($0.keyID)" } ?? ""
        let senderID = diagnosis.matched?.sender.map { "\($0.keyID)" } ?? ""
        return switch cause {
        case .field(let error): error.description
        case .envelope(let error): error.description
        case .ownKeyGone(let life):
            "the key \(recipientID) of \(device) was \(Self.fate(life)) and no longer opens messages"
        case .otherDevice(let name, _): "it was sealed for \(name): its hint matches that device's key \(recipientID)"
        case .unknownKey: "it was sealed for another device: its hint doesn't match any key in this keyring"
        case .stranger: "its sender is not trusted: its hint doesn't match any sender in this keyring"
        case .untrusted(let sender, let name, _, let verdict):
            "it claims to be from \(sender.keyID) (\(name?.description ?? sender.description)), who is not trusted for \(topic); \(Self.words(verdict))"
        case .senderSetOutOfTime(let set):
            "it claims to be from \(senderID), whose sender set is valid from \(TimeText.second(set.created)) to \(TimeText.second(set.expires)), but \(here)"
        case .otherApp(let other): "it was sealed for the app \(other), not for \(topic)"
        case .altered:
            "no key opens it: it was altered in transit, forged, or sealed for an app that isn't in this keyring"
        case .content(let error):
            "it opens, but \(error?.description ?? "its padding is wrong, or its ID, topic, or time is missing")"
        }
    }

    private func advice(_ cause: PayloadDiagnosis.Cause) -> String {
        let (device, topic) = (diagnosis.device, diagnosis.topic)
        return switch cause {
        case .field, .envelope: "compare it byte for byte with the payload that the sender gave to its transport"
        case .ownKeyGone: "give the sender the device's newest record; this message must be sealed again"
        case .otherDevice(let name, hasSecret: true):
            "open it as \(name), or find out why the push went to \(device)"
        case .otherDevice(let name, hasSecret: false):
            "find out why the push went to \(device); the secret of \(name) is not in this keyring"
        case .unknownKey: "compare its recipient with the key that the sender's server uses for this device"
        case .stranger: "find out whose key it is; trust it only if it belongs to the app's own server"
        case .untrusted(_, _, hasAuthority: true, _):
            "have the authority sign a set that includes it, and add the set with `sealedpush trust add`"
        case .untrusted(let sender, let name, hasAuthority: false, _):
            "for the app's own server, run `sealedpush trust add \(name?.description ?? sender.description) --topic \(topic) --keyring \(folder)`"
        case .senderSetOutOfTime:
            "check this machine's clock; if it is right, have the authority sign a new set, and add it with `sealedpush trust add`"
        case .otherApp(let other):
            "if you meant \(other), use it as the topic; otherwise, seal it for \(topic), or send it to the other app"
        case .altered:
            "compare it byte for byte with the payload that was sent; if they match, compare the topic and keys on both ends"
        case .content: "fix the sender, which produces malformed content"
        }
    }

    private func words(_ refusal: OpenError) -> String {
        refusal.words.single?.words(self) ?? "it fails with \(diagnosis.code)"
    }

    private func advice(_ refusal: OpenError) -> String { refusal.words.single?.advice ?? "try again" }

    private static func fate(_ life: KeyLife) -> String {
        life.erased.map { "erased on \(TimeText.day($0))" } ?? life.revoked.map { "revoked on \(TimeText.day($0))" }
            ?? "retired"
    }

    /// Describes how opening would end if the sender were trusted.
    private static func words(_ verdict: OpenError?) -> String {
        switch verdict {
        case nil: "if that sender were trusted, it would open"
        case .rejected: "but that sender didn't seal it for this app and device"
        case let verdict?: "if that sender were trusted, it would fail with \(verdict.rawValue)"
        }
    }
}
