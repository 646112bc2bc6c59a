internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// A finding as a person and a script read it.
extension Finding {
    /// Says what is wrong; the finding's name is not repeated.
    var sentence: String {
        switch self {
        case .refused(let error): error.shown
        case .notChecked(let error): "whether the keyring was altered was not checked: \(error.shown)"
        case .inTheClear(let count):
            "the secrets of \(count) names are in the clear, for everyone who can read the file"
        case .readableByOthers(let path, let mode): "other users may read \(path): its mode is \(Self.octal(mode))"
        case .writableByOthers(let path, let mode): "other users may change \(path): its mode is \(Self.octal(mode))"
        case .inconsistent: "a secret doesn't belong to its public key, or its record isn't one that was signed"
        case .old(_, let id, let age): "its key \(id) is \(TimeText.longSpan(age)) old"
        case .unconfirmed(_, let id, let created, _):
            "its new key \(id) has not been confirmed since \(TimeText.day(created))"
        case .erasureDue(_, let id, let due):
            "its retired key \(id) should have been erased on \(TimeText.day(due))"
        case .unproven(_, hasRecord: true): "its enrollment is pinned, and it has never proven that it holds its key"
        case .unproven(_, hasRecord: false): "nobody vouches for its key: it came without a signed record"
        case .recordExpires(_, let expires, let isOver, _):
            "its record \(isOver ? "expired" : "expires") on \(TimeText.day(expires))"
        case .senderSetExpires(_, let expires, isOver: true):
            "its sender set expired on \(TimeText.day(expires)): nobody is believed"
        case .senderSetExpires(_, let expires, isOver: false): "its sender set expires on \(TimeText.day(expires))"
        case .authorityOnline: "an authority's secret lies beside a sender's: a thief gets both"
        case .logAltered: "a line of the audit log was changed, added or taken out"
        case .logUnreadable(let message): "the audit log can't be read: \(message)"
        }
    }

    /// Says what to do about it.
    var advice: String {
        switch self {
        case .refused(.altered), .refused(.damaged): "restore a backup, and find out who changed it"
        case .refused(.sealChanged): "if that was not you, use nothing of it, and restore a backup"
        case .refused(.notSealed): "check that this is the right folder; if it is, restore a backup"
        case .refused(.wrongSecret): "try again with the right one"
        case .refused: "check its kind, its owner and its permissions"
        case .notChecked: "run this again with the keyring's passphrase or key"
        case .inTheClear: "`sealedpush keys passphrase` seals them"
        case .readableByOthers: "`chmod 600` it; if it isn't sealed and somebody may have read it, revoke its keys"
        case .writableByOthers: "`chmod go-w` it, and check that its contents are still the right ones"
        case .inconsistent: "restore a backup, and find out who changed the keyring"
        case .old(let name, _, _): "`sealedpush keys rotate \(name)`"
        case .unconfirmed(let name, _, _, isOwn: true):
            "make sure that the other end knows it, then `sealedpush keys rotate \(name) --confirm`"
        case .unconfirmed(let name, _, _, isOwn: false):
            "`sealedpush keys challenge \(name) --from SENDER` asks the device to prove it"
        case .erasureDue: "`sealedpush keys rotate --older-than 30d` erases it; run that daily"
        case .unproven(let name, hasRecord: true):
            "`sealedpush keys challenge \(name) --from SENDER` asks it; until then nothing is sealed to it"
        case .unproven(_, hasRecord: false):
            "import the device's record, or compare fingerprints and seal with --unverified"
        case .recordExpires(_, _, _, isOwn: true):
            "`sealedpush keys rotate --older-than 30d` signs a new one: send it to the server"
        case .recordExpires(_, _, _, isOwn: false): "ask the device's owner for a new one"
        case .senderSetExpires: "have the authority sign a new one, and take it with `sealedpush trust add`"
        case .authorityOnline: "keep it offline, in a keyring of its own"
        case .logAltered:
            "find out what happened; `sealedpush keys passphrase`, which seals the keyring again, then accepts the log as it is"
        case .logUnreadable: "check its owner and its permissions"
        }
    }

    var json: JSONValue {
        [
            "code": .string(code), "severity": .string("\(severity)"), "subject": .string(subject),
            "sentence": .string(sentence), "advice": .string(advice),
        ]
    }

    private static func octal(_ mode: Int) -> String { String(mode, radix: 8) }
}
