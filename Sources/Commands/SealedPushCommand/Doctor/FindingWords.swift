internal import CommandSupport
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// A finding as a person and a script read it.
struct ShownFinding {
    let code: String
    let severity: Finding.Severity
    let subject: String
    let sentence: String
    let advice: String

    init(_ finding: Finding) {
        (code, severity, subject) = (finding.code, finding.severity, finding.subject)
        (sentence, advice) = finding.words
    }

    /// The file with the keyring's key or passphrase, which others may read.
    init(exposedSecretFile file: String) {
        let file = TerminalText.printable(file)
        (code, severity, subject) = ("readable-by-others", .problem, file)
        sentence = "other users may read \(file), which opens this keyring"
        advice =
            "`chmod 600` it; if somebody may have read it, seal the keyring again with `sealedpush keys passphrase`"
    }

    var json: JSONValue {
        [
            "code": .string(code), "severity": .string("\(severity)"), "subject": .string(subject),
            "sentence": .string(sentence), "advice": .string(advice),
        ]
    }
}

extension Finding {
    /// One sentence, and what to do.
    fileprivate var words: (sentence: String, advice: String) {
        switch self {
        case .refused(let error): (error.shown, error.advice)
        case .notChecked(let error):
            (
                "whether the keyring was altered was not checked: \(error.shown)",
                "run this again with the keyring's passphrase or key"
            )
        case .inTheClear(let count):
            (
                "the secrets of \(count) names are in the clear, for everyone who can read the file",
                "`sealedpush keys passphrase` seals them"
            )
        case .readableByOthers(let path, let mode):
            (
                "other users may read \(path): its mode is \(Self.octal(mode))",
                "`chmod 600` it; if it isn't sealed and somebody may have read it, revoke its keys"
            )
        case .writableByOthers(let path, let mode):
            (
                "other users may change \(path): its mode is \(Self.octal(mode))",
                "`chmod go-w` it, and check that its contents are still the right ones"
            )
        case .leftover(let path):
            (
                "\(path) is left from a change that was never made, and may hold secrets",
                "the next command that changes the keyring removes it"
            )
        case .notIgnored:
            (
                ".gitignore is missing, which keeps secrets out of a repository",
                "the next command that changes the keyring makes it"
            )
        case .inconsistent:
            (
                "a secret doesn't belong to its public key, or its record isn't one that was signed",
                "restore a backup, and find out who changed the keyring"
            )
        case .doubleKey(let id, let names):
            (
                "the key \(id) has \(names.count) names: \(names.map(\.description).joined(separator: ", "))",
                "keep one of them; a copy doesn't rotate with it"
            )
        case .aheadOfClock(_, let id, let created):
            (
                "its key \(id) was made on \(TimeText.day(created)), according to the keyring",
                "compare this machine's clock with another one"
            )
        case .old(let name, let id, let age):
            ("its key \(id) is \(TimeText.longSpan(age)) old", "`sealedpush keys rotate \(name)`")
        case .unconfirmed(let name, let id, let created, let isOwn):
            (
                "its new key \(id) has not been confirmed since \(TimeText.day(created))",
                isOwn
                    ? "make sure that the other end knows it, then `sealedpush keys confirm \(name)`"
                    : "`sealedpush keys challenge \(name)` asks the device to prove it"
            )
        case .erasureDue(_, let id, let due):
            (
                "its retired key \(id) should have been erased on \(TimeText.day(due))",
                "`sealedpush keys rotate` erases what is due; run it daily"
            )
        case .noneInUse(_, let isOwn):
            ("none of its keys is in use", isOwn ? "rotate it, or leave it as it is" : "import a new one")
        case .unproven(let name, hasRecord: true):
            (
                "its enrollment is pinned, and it has never proven that it holds its key",
                "`sealedpush keys challenge \(name)` asks it; until then nothing is sealed to it"
            )
        case .unproven(_, hasRecord: false):
            (
                "nobody vouches for its key: it came without a signed record",
                "import the device's record, or compare fingerprints and seal with --unverified"
            )
        case .recordExpires(_, let expires, let isOver, let isOwn):
            (
                "its record \(isOver ? "expired" : "expires") on \(TimeText.day(expires))",
                isOwn
                    ? "`sealedpush keys rotate` signs a new one: send it to the server"
                    : "ask the device's owner for a new one"
            )
        case .senderSetExpires(_, let expires, let isOver):
            (
                "its sender set \(isOver ? "expired" : "expires") on \(TimeText.day(expires))\(isOver ? ": nobody is believed" : "")",
                "have the authority sign a new one, and take it with `sealedpush trust add`"
            )
        case .authorityOnline:
            (
                "an authority's secret lies beside a sender's: a thief gets both",
                "keep it offline, in a keyring of its own"
            )
        case .logShortened: ("the audit log is shorter than the keyring says: lines are missing", Self.logAdvice)
        case .logEdited: ("a line of the audit log was changed, added or taken out", Self.logAdvice)
        case .logUnreadable(let message):
            ("the audit log can't be read: \(message)", "check its owner and its permissions")
        }
    }

    private static func octal(_ mode: Int) -> String { String(mode, radix: 8) }

    private static let logAdvice =
        "find out what happened; `sealedpush keys passphrase`, which seals the keyring again, then accepts the log as it is"
}

extension KeyringError {
    /// What to do if the whole keyring is refused.
    fileprivate var advice: String {
        switch self {
        case .altered, .damaged: "restore a backup, and find out who changed it"
        case .sealChanged: "if that was not you, use nothing of it, and restore a backup"
        case .notSealed: "check that this is the right folder; if it is, restore a backup"
        case .wrongSecret: "try again with the right one"
        default: "check its kind, its owner and its permissions"
        }
    }
}
