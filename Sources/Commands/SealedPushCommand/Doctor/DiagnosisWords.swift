internal import PushKeyring
internal import SealedPush

/// One payload's way in words: what passed, what failed and what to do.
struct DiagnosisWords {
    let diagnosis: PayloadDiagnosis
    /// The keyring's folder, as it was given.
    let folder: String

    /// One sentence about a step.
    func words(_ step: PayloadDiagnosis.Step) -> String {
        switch step.outcome {
        case .passed: passing(step.name) ?? "passed"
        case .failed: explanation?.words ?? "passed"
        case .notReached:
            step.name == .ledger ? "only a device's ledger knows whether it was seen before" : "not reached"
        }
    }

    var advice: String {
        explanation?.advice
            ?? "if a device shows the safe default all the same, look for replayed or out-of-time in its log"
    }

    private func passing(_ name: OpenError.Step) -> String? {
        let message = diagnosis.message
        return switch name {
        case .envelope: diagnosis.outside.map { "a well-formed envelope of \($0.byteCount) bytes" }
        case .recipient:
            diagnosis.outside.map { "it names the key \($0.recipientKeyID), which \(diagnosis.device) has" }
        case .sender: passingSender
        case .unsealing: "it opens: nothing was altered"
        case .content: "the content is well-formed"
        case .topic: "it is meant for \(diagnosis.topic)"
        case .key:
            if let until = message?.life.opensUntil {
                "the key is retired, and opens what was sent until \(TimeText.second(until))"
            } else {
                "the key is in use"
            }
        case .clock: message?.sent.map { "this clock agrees: it was sent on \(TimeText.second($0))" }
        case .age:
            // What was sent ahead of this clock, by a little, is as new as can be.
            message?.sent.map {
                "it is \(TimeText.longSpan(max(0, diagnosis.now.seconds(since: $0)))) old; up to \(maximumAge) are allowed"
            }
        case .expiry:
            message?.expires.map { "it expires on \(TimeText.second($0)), \(distance($0))" }
                ?? "it does not expire by itself"
        case .ledger: nil
        }
    }

    private var passingSender: String {
        guard let id = diagnosis.outside?.senderKeyID else { return "anybody may have sealed it, which is allowed" }
        return "it names the sender \(id)\(diagnosis.senderName.map { " (\($0))" } ?? ""), who is trusted"
    }

    /// `3 days ago`, `5 minutes ahead`
    private func distance(_ moment: Timestamp) -> String {
        let seconds = moment.seconds(since: diagnosis.now)
        return "\(TimeText.longSpan(seconds)) \(seconds > 0 ? "ahead" : "ago")"
    }

    private var maximumAge: String { TimeText.longSpan(TimeRules.maximumAge) }
}

extension DiagnosisWords {
    private typealias Explanation = (words: String, advice: String)

    /// What is said of the step that fails; nil where none does.
    private var explanation: Explanation? { diagnosis.cause.map(explanation) }

    private func explanation(_ cause: PayloadDiagnosis.Cause) -> Explanation {
        let (device, topic) = (diagnosis.device, diagnosis.topic)
        let recipientID = diagnosis.outside.map { "\($0.recipientKeyID)" } ?? ""
        let senderID = diagnosis.outside?.senderKeyID.map { "\($0)" } ?? ""
        let here = "it is \(TimeText.second(diagnosis.now)) here"
        return switch cause {
        case .field(let error): (Self.words(error), Self.malformedAdvice)
        case .envelope(let error): (error.description, Self.malformedAdvice)
        case .ownKeyGone(let life):
            (
                "the key \(recipientID) of \(device) was \(Self.fate(life)), and opens nothing more",
                "give the sender the device's newest record; this message has to be sealed again"
            )
        case .otherDevice(let name, let hasSecret):
            (
                "it was sealed for \(name), by its key ID \(recipientID)",
                hasSecret
                    ? "open it as \(name), or find out why the push went to \(device)"
                    : "find out why the push went to \(device); the secret of \(name) is not in this keyring"
            )
        case .unknownKey:
            (
                "it was sealed for another device: no key in this keyring has the ID \(recipientID)",
                "compare it with the recipient that the sender's server has for this device"
            )
        case .anonymous:
            (
                "it has no sender, and anonymous messages are not allowed",
                "seal it with a sender's key, or allow anonymous messages in the app"
            )
        case .stranger:
            (
                "it names the sender \(senderID), who is not trusted, and whom this keyring does not know",
                "ask who has this key; trust it only if it is the app's own server"
            )
        case .untrusted(let sender, let name, let isReplaced, let hasAuthority, let verdict):
            (
                Self.untrusted(senderID, name?.description ?? sender.description, topic, isReplaced, verdict),
                hasAuthority
                    ? "have the authority sign a set with it, and take that with `sealedpush trust add`"
                    : "`sealedpush trust add \(name?.description ?? sender.description) --topic \(topic) --keyring \(folder)`, if it is the app's own server"
            )
        case .senderSetExpired(let expires):
            (
                "it names the sender \(senderID), whose sender set expired on \(TimeText.second(expires)), \(distance(expires))",
                "have the authority sign a new set, and take it with `sealedpush trust add`"
            )
        case .senderSetAhead(let created):
            (
                "it names the sender \(senderID), whose sender set was signed ahead of this clock, on \(TimeText.second(created))",
                "compare this machine's clock with another one"
            )
        case .sharedKeyID(let sender, let name):
            (
                "it was sealed by \(name?.description ?? sender.description), who is not trusted and shares a key ID with somebody who is",
                "trust it, if it is the app's own server"
            )
        case .otherApp(let other):
            (
                "it was sealed for the app \(other), not for \(topic)",
                "if \(other) is meant, give it as the topic; otherwise seal it for \(topic), or send it to the other app"
            )
        case .altered:
            (
                "no key opens it: it was altered on its way, forged, or sealed for an app that this keyring does not know",
                "compare it, byte by byte, with what was sent; if they are equal, compare topic and keys at both ends"
            )
        case .padding: ("it opens, but its padding is wrong, or there is nothing in it", Self.contentAdvice)
        case .content(let error): ("it opens, but \(error)", Self.contentAdvice)
        case .incomplete: ("it opens, but its content lacks the ID, the topic or the time", Self.contentAdvice)
        case .contentTopic(let other):
            (
                "its content is meant for \(other?.description ?? "no app"), not for \(topic)",
                "mend the sender: it puts two topics into one message"
            )
        case .retired(let life, let sent):
            (
                "\(moment(sent)); its key was retired on \(life.retired.map(TimeText.second) ?? "some day") and opens what was sent until \(life.opensUntil.map(TimeText.second) ?? "then")",
                "give the sender the device's newest record; if no sender of yours seals to the old key, it may be stolen: revoke it"
            )
        case .clock(let sent, let limit):
            (
                "\(moment(sent)), and \(here): more than \(TimeText.longSpan(limit))",
                "compare the clocks of sender and device"
            )
        case .tooOld(let sent):
            (
                "\(moment(sent)), and \(here): more than \(maximumAge)",
                "seal it again; if it is new, compare the clocks of sender and device"
            )
        case .expired(let expires):
            (
                "it expired on \(TimeText.second(expires)), \(distance(expires)), and \(here)",
                "seal it again, or with a later `expires`; if it is new, compare the clocks"
            )
        case .onDevice: ("it ends with \(diagnosis.code)", "try again")
        }
    }

    private func moment(_ sent: Timestamp) -> String { "it was sent on \(TimeText.second(sent)), \(distance(sent))" }

    private static func words(_ error: PayloadDiagnosis.FieldError) -> String {
        switch error {
        case .tooLong(let limit): "it has more than \(limit) bytes: no push is that long"
        case .notUTF8: "it is not UTF-8 text"
        case .empty: "it is empty"
        case .noObject: "it is JSON, and no object"
        case .byteOrderMark: "it begins with a byte order mark, which JSON may not have"
        case .noJSON(let depth): "it is no JSON: cut, altered, with a name twice, or more than \(depth) levels deep"
        case .missing(let name): "it has no \"\(name)\": nothing was sealed into it, or something took it out"
        case .noString(let name): "its \"\(name)\" is no string"
        }
    }

    private static func fate(_ life: KeyLife) -> String {
        life.erased.map { "erased on \(TimeText.day($0))" } ?? life.revoked.map { "revoked on \(TimeText.day($0))" }
            ?? "taken out of use"
    }

    private static func untrusted(
        _ id: String, _ name: String, _ topic: Topic, _ isReplaced: Bool, _ verdict: OpenError?
    ) -> String {
        let who =
            isReplaced
            ? "it names the sender \(id), who is listed for \(topic), but the authority's sender set, which counts instead, lacks it"
            : "it names the sender \(id), as \(name) has, who is not trusted for \(topic)"
        return switch verdict {
        case nil: "\(who); trusted, it would open"
        case .rejected: "\(who); it was not sealed by it for this app and device, though"
        case let verdict?: "\(who); trusted, it would end with \(verdict.rawValue)"
        }
    }

    private static let malformedAdvice = "compare it, byte by byte, with what the sender gave to its transport"
    private static let contentAdvice = "mend the sender: it breaks the format of the content"
}
