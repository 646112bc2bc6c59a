internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// A finding as a person and a script read it.
struct ShownFinding {
    let code: Finding.Code
    let subject: Finding.Subject
    let sentence: String
    let advice: String

    init(_ finding: Finding) {
        (code, subject) = (finding.code, finding.subject)
        (sentence, advice) = finding.words
    }

    /// The file with the keyring's key or passphrase, which others may read.
    init(exposedSecretFile file: String) {
        let file = Finding.printable(file)
        (code, subject) = (.readableByOthers, .file(file))
        sentence = "other users may read \(file), which opens this keyring"
        advice = "`chmod 600` it; if somebody may have, seal the keyring anew with `sealedpush keys passphrase`"
    }

    var json: JSONValue {
        [
            "code": .string(code.rawValue), "severity": .string(code.severity.rawValue),
            "subject": .string(subject.description), "sentence": .string(sentence), "advice": .string(advice),
        ]
    }
}

extension Finding {
    /// One sentence, and what to do.
    fileprivate var words: (sentence: String, advice: String) {
        switch self {
        case .damaged(let path):
            ("\(path) is damaged; the other keys are not affected", "restore it from a backup, or delete it")
        case .altered(let path):
            (
                "\(path) was changed by something else than the keyring, or belongs elsewhere",
                "restore it from a backup; find out who changed it"
            )
        case .unreadable(let path, let message): ("\(path) can't be read: \(message)", Self.ownerAdvice)
        case .unreadableFolder(let message): ("the folder can't be read: \(message)", Self.ownerAdvice)
        case .otherKind(let path, let isFolderExpected):
            (
                "\(path) is no \(isFolderExpected ? "folder" : "file")",
                "move it away, and restore what should be there from a backup"
            )
        case .missing(let name):
            (
                "the audit log speaks of \(name), and its file is gone",
                "restore it from a backup; if somebody deleted it on purpose, leave it"
            )
        case .missingTrustList:
            (
                "the audit log speaks of a trust list, and trust.txt is gone",
                "restore it from a backup, or trust anew"
            )
        case .notInLog:
            (
                "a key of it came here by something else than the keyring",
                "if you did not put its file there, delete it, and find out who did"
            )
        case .link(let path):
            ("\(path) is a link: what it leads to is not protected by this folder", "put the file itself there")
        case .unknownFile(let path): ("\(path) is no part of a keyring", "keep it elsewhere, or delete it")
        case .moreUnknownFiles(let count):
            ("\(count) more files are no part of a keyring", "keep them elsewhere, or delete them")
        case .doubleName(let name):
            (
                "\(name) has a file in private and one in public; the public one is not used",
                "delete the one that is wrong, or give it another name"
            )
        case .doubleKey(let id, let names):
            (
                "the key \(id) has \(names.count) names: \(names.map(\.description).joined(separator: ", "))",
                "keep one of them; a copy does not rotate with it"
            )
        case .unfinishedChange:
            (
                "a change is made, and its files are not all in place yet",
                "the next command that changes the keyring finishes it; then run this again, for the audit log"
            )
        case .leftover(let path):
            (
                "\(path) is left from a change that was never made, and may hold secrets",
                "the next command that changes the keyring clears it away; else delete it"
            )
        case .readableByOthers(let path, let mode, let isFolder):
            (
                "other users may read \(path): its mode is \(Self.octal(mode))",
                "`chmod \(isFolder ? "700" : "600")` it; if somebody may have, revoke its keys where it is not sealed"
            )
        case .writableByOthers(let path, let mode, let right):
            (
                "other users may change \(path): its mode is \(Self.octal(mode))",
                "`chmod \(Self.octal(right))` it, and look whether its contents are still the right ones"
            )
        case .notIgnored(let path):
            (
                "\(path) is missing, which keeps secrets out of a repository",
                "the next command that changes the keyring makes it anew"
            )
        case .inTheClear(let count):
            (
                "the secrets of \(count) names are in the clear, for whoever reads the files",
                "`sealedpush keys passphrase` seals them"
            )
        case .straySecret(let path, true):
            (
                "\(path) is no part of a keyring, and holds a secret key in the clear",
                "keep it elsewhere, or delete it; who may have read it decides whether the key is to be revoked"
            )
        case .straySecret(let path, false):
            (
                "\(path) holds a secret key in the clear",
                "take it out, and revoke the key if others may have read it"
            )
        case .sealMissing(let count):
            ("keyring.txt is gone, and \(count) files are of a sealed keyring", Self.copyAdvice)
        case .sealChanged(let isSealed, let note):
            (
                "it was sealed when it was last used, and \(isSealed ? "is sealed anew now" : "is not sealed now")",
                "if that was you, accept it with `rm '\(note)'`; if not, use nothing of it, and restore a backup"
            )
        case .sealUnreadable(let message):
            ("keyring.txt can't be read: \(message)", "look at its kind, its owner and its permissions")
        case .notSealed:
            (
                "a passphrase or key was given, or a seal demanded, and this keyring is not sealed",
                "look whether this is the right folder, and whether keyring.txt was taken away"
            )
        case .wrongSecret(let kind):
            (
                "the \(kind.rawValue) that was given is not this keyring's, or keyring.txt was changed",
                "try again with the right one; if it is the right one, restore the keyring from a backup"
            )
        case .notChecked(let error):
            (
                "whether files were altered was not checked: \(error.shown)",
                "run this again with the keyring's passphrase or key"
            )
        case .sealDamaged: ("keyring.txt, which says how the keyring is sealed, is damaged", Self.copyAdvice)
        case .aheadOfClock(_, let id, let created):
            (
                "its key \(id) was made on \(TimeText.day(created)), by its file",
                "compare this machine's clock with another one"
            )
        case .old(let name, let id, let age):
            ("its key \(id) is \(TimeText.longSpan(age)) old", "`sealedpush keys rotate \(name)`")
        case .unconfirmed(let name, let id, let created, let isOwn):
            (
                "its new key \(id) has not been confirmed since \(TimeText.day(created))",
                isOwn
                    ? "see that the other end gets to know it, then `sealedpush keys confirm \(name)`"
                    : "`sealedpush keys confirm \(name)` asks the device for it"
            )
        case .erasureDue(_, let id, let due):
            (
                "its retired key \(id) should have been erased on \(TimeText.day(due))",
                "`sealedpush keys rotate` erases what is due; let it run daily"
            )
        case .noneInUse(_, let isOwn):
            ("none of its keys is in use", isOwn ? "rotate it, or leave it as it is" : "import a new one")
        case .recordExpires(_, let expires, let isOwn):
            ("its record expires on \(TimeText.day(expires))", Self.recordAdvice(isOwn))
        case .recordExpired(_, let expires, let isOwn):
            ("its record expired on \(TimeText.day(expires))", Self.recordAdvice(isOwn))
        case .neverAnswered(let name):
            (
                "its enrolment is pinned, and it has never proven that it holds its key",
                "`sealedpush keys confirm \(name)` asks it; until then nothing is sealed to it"
            )
        case .unverified:
            (
                "nobody vouches for its key: it came without a signed record",
                "import the device's record, or compare fingerprints and seal with --unverified"
            )
        case .authorityOnline:
            (
                "an authority's secret lies beside a sender's: who steals the one has the other",
                "keep it offline, in a keyring of its own"
            )
        case .senderSetExpires(_, let expires): ("its sender set expires on \(TimeText.day(expires))", Self.setAdvice)
        case .senderSetExpired(_, let expires):
            ("its sender set expired on \(TimeText.day(expires)): nobody is believed", Self.setAdvice)
        case .senderSetUnused:
            (
                "its sender set is of an authority that is not pinned, so it counts for nothing",
                "pin the authority with `sealedpush trust add`, if it is the app's"
            )
        case .logMissing:
            (
                "there are keys, and no audit log of how they came here",
                "if nobody moved it away, compare the keys with a backup"
            )
        case .logBroken: ("a line of the audit log was changed, put in, cut or taken out", Self.logAdvice)
        case .logGone: ("the audit log is gone", Self.logAdvice)
        case .logCut(let count, let expected):
            ("the audit log has \(count) lines where it should have \(expected)", Self.logAdvice)
        case .logHeadGone: ("audit-head.txt is gone, which says where the audit log ends", Self.logAdvice)
        case .logReplaced: ("the audit log is another one than audit-head.txt speaks of", Self.logAdvice)
        }
    }

    private static func octal(_ mode: Int) -> String { String(mode, radix: 8) }

    private static func recordAdvice(_ isOwn: Bool) -> String {
        isOwn
            ? "`sealedpush keys rotate` signs a new one: send it to the server" : "ask the device's owner for a new one"
    }

    private static let ownerAdvice = "look at its owner and its permissions"
    private static let copyAdvice = "restore it from a copy; without it the secrets can't be opened"
    private static let setAdvice = "have the authority sign a new one, and take it with `sealedpush trust add`"
    private static let logAdvice =
        "find out what happened; to begin a new log, move audit.jsonl and audit-head.txt to another place"
}
