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
        case .failed: failure
        case .notReached:
            step.name == .ledger ? "only a device's ledger knows whether it was seen before" : "not reached"
        }
    }

    /// One sentence about the step that fails.
    var failure: String { diagnosis.cause.map(words) ?? "passed" }

    /// What to do about it.
    var advice: String {
        diagnosis.cause.map(advice)
            ?? "if a device shows the safe default all the same, look for replayed or out-of-time in its log"
    }

    private func passing(_ name: OpenError.Step) -> String? {
        let message = diagnosis.message
        return switch name {
        case .envelope: diagnosis.outside.map { "a well-formed envelope of \($0.byteCount) bytes" }
        case .recipient: "it names the key \(recipientID), which \(diagnosis.device) has"
        case .sender: passingSender
        case .unsealing: "it opens: nothing was altered"
        case .content: "the content is well-formed"
        case .topic: "it is meant for \(diagnosis.topic)"
        case .key:
            message?.life.opensUntil.map {
                "the key is retired, and opens what was sent until \(TimeText.second($0))"
            } ?? "the key is in use"
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

    private var recipientID: String { diagnosis.outside?.recipientKeyID.description ?? "" }

    private var maximumAge: String { TimeText.longSpan(TimeRules.maximumAge) }

    /// `3 days ago`, `5 minutes ahead`
    private func distance(_ moment: Timestamp) -> String {
        let seconds = moment.seconds(since: diagnosis.now)
        return "\(TimeText.longSpan(seconds)) \(seconds > 0 ? "ahead" : "ago")"
    }
}

// MARK: Of the step that fails

extension DiagnosisWords {
    private func words(_ cause: PayloadDiagnosis.Cause) -> String {
        let (device, topic) = (diagnosis.device, diagnosis.topic)
        let sender = "it names the sender \(diagnosis.outside?.senderKeyID?.description ?? "")"
        let here = "it is \(TimeText.second(diagnosis.now)) here"
        func sent(_ moment: Timestamp) -> String { "it was sent on \(TimeText.second(moment)), \(distance(moment))" }
        return switch cause {
        case .field(let error): Self.words(error)
        case .envelope(let error): error.description
        case .ownKeyGone(let life):
            "the key \(recipientID) of \(device) was \(Self.fate(life)), and opens nothing more"
        case .otherDevice(let name, _): "it was sealed for \(name), by its key ID \(recipientID)"
        case .unknownKey: "it was sealed for another device: no key in this keyring has the ID \(recipientID)"
        case .anonymous: "it has no sender, and anonymous messages are not allowed"
        case .stranger: "\(sender), who is not trusted, and whom this keyring does not know"
        case .untrusted(_, _, isReplaced: true, _, let verdict):
            "\(sender), who is listed for \(topic), but the authority's sender set, which counts instead, lacks it"
                + Self.words(verdict)
        case .untrusted(let key, let name, isReplaced: false, _, let verdict):
            "\(sender), as \(name?.description ?? key.description) has, who is not trusted for \(topic)"
                + Self.words(verdict)
        case .senderSetExpired(let expires):
            "\(sender), whose sender set expired on \(TimeText.second(expires)), \(distance(expires))"
        case .senderSetAhead(let created):
            "\(sender), whose sender set was signed ahead of this clock, on \(TimeText.second(created))"
        case .sharedKeyID(let key, let name):
            "it was sealed by \(name?.description ?? key.description), who is not trusted and shares a key ID with somebody who is"
        case .otherApp(let other): "it was sealed for the app \(other), not for \(topic)"
        case .altered:
            "no key opens it: it was altered on its way, forged, or sealed for an app that this keyring does not know"
        case .padding: "it opens, but its padding is wrong, or there is nothing in it"
        case .content(let error): "it opens, but \(error)"
        case .incomplete: "it opens, but its content lacks the ID, the topic or the time"
        case .contentTopic(let other): "its content is meant for \(other?.description ?? "no app"), not for \(topic)"
        case .retired(let life, let moment):
            "\(sent(moment)); its key was retired on \(life.retired.map(TimeText.second) ?? "some day") and opens what was sent until \(life.opensUntil.map(TimeText.second) ?? "then")"
        case .clock(let moment, let limit): "\(sent(moment)), and \(here): more than \(TimeText.longSpan(limit))"
        case .tooOld(let moment): "\(sent(moment)), and \(here): more than \(maximumAge)"
        case .expired(let expires): "it expired on \(TimeText.second(expires)), \(distance(expires)), and \(here)"
        case .onDevice: "it ends with \(diagnosis.code)"
        }
    }

    private func advice(_ cause: PayloadDiagnosis.Cause) -> String {
        let (device, topic) = (diagnosis.device, diagnosis.topic)
        return switch cause {
        case .field, .envelope: "compare it, byte by byte, with what the sender gave to its transport"
        case .ownKeyGone: "give the sender the device's newest record; this message has to be sealed again"
        case .otherDevice(let name, hasSecret: true): "open it as \(name), or find out why the push went to \(device)"
        case .otherDevice(let name, hasSecret: false):
            "find out why the push went to \(device); the secret of \(name) is not in this keyring"
        case .unknownKey: "compare it with the recipient that the sender's server has for this device"
        case .anonymous: "seal it with a sender's key, or allow anonymous messages in the app"
        case .stranger: "ask who has this key; trust it only if it is the app's own server"
        case .untrusted(_, _, _, hasAuthority: true, _):
            "have the authority sign a set with it, and take that with `sealedpush trust add`"
        case .untrusted(let sender, let name, _, hasAuthority: false, _):
            "`sealedpush trust add \(name?.description ?? sender.description) --topic \(topic) --keyring \(folder)`, if it is the app's own server"
        case .senderSetExpired: "have the authority sign a new set, and take it with `sealedpush trust add`"
        case .senderSetAhead: "compare this machine's clock with another one"
        case .sharedKeyID: "trust it, if it is the app's own server"
        case .otherApp(let other):
            "if \(other) is meant, give it as the topic; otherwise seal it for \(topic), or send it to the other app"
        case .altered:
            "compare it, byte by byte, with what was sent; if they are equal, compare topic and keys at both ends"
        case .padding, .content, .incomplete: "mend the sender: it breaks the format of the content"
        case .contentTopic: "mend the sender: it puts two topics into one message"
        case .retired:
            "give the sender the device's newest record; if no sender of yours seals to the old key, it may be stolen: revoke it"
        case .clock: "compare the clocks of sender and device"
        case .tooOld: "seal it again; if it is new, compare the clocks of sender and device"
        case .expired: "seal it again, or with a later `expires`; if it is new, compare the clocks"
        case .onDevice: "try again"
        }
    }

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

    /// What opening would end with, if the sender were trusted.
    private static func words(_ verdict: OpenError?) -> String {
        switch verdict {
        case nil: "; trusted, it would open"
        case .rejected: "; it was not sealed by it for this app and device, though"
        case let verdict?: "; trusted, it would end with \(verdict.rawValue)"
        }
    }
}
