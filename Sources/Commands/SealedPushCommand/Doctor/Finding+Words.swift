internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// A finding in words and as JSON.
extension Finding {
    /// The problem, without the name that the finding is about.
    var sentence: String {
        switch self {
        case .refused(let error): error.shown
        case .notChecked(let error): "the keyring was not checked for alterations: \(error.shown)"
        case .inTheClear(let count):
            "the secrets of \(count) names are in the clear for anyone who can read the file"
        case .readableByOthers(let path, let mode): "other users can read \(path); its mode is \(Self.octal(mode))"
        case .writableByOthers(let path, let mode): "other users can change \(path); its mode is \(Self.octal(mode))"
        case .inconsistent: "a secret doesn't match its public key, or its record isn't validly signed"
        case .old(_, let id, let age): "its key \(id) is \(TimeText.longSpan(age)) old"
        case .unconfirmed(_, let id, let created, _):
            "its new key \(id), created on \(TimeText.day(created)), is still unconfirmed"
        case .erasureDue(_, let id, let due):
            "its retired key \(id) should have been erased on \(TimeText.day(due))"
        case .unproven(_, hasRecord: true): "its enrollment is pinned, but it has never proven that it holds its key"
        case .unproven(_, hasRecord: false): "its key is unverified: it came without a signed record"
        case .recordExpires(_, let expires, let isOver, _):
            "its record \(isOver ? "expired" : "expires") on \(TimeText.day(expires))"
        case .senderSetExpires(_, let expires, isOver: true):
            "its sender set expired on \(TimeText.day(expires)), so no sender is trusted"
        case .senderSetExpires(_, let expires, isOver: false): "its sender set expires on \(TimeText.day(expires))"
        case .authorityOnline: "an authority's secret is stored next to a sender's, so a thief would get both"
        case .logAltered: "a line of the audit log was changed, added, or removed"
        case .logUnreadable(let message): "the audit log can't be read: \(message)"
        }
    }

    /// The remedy.
    var advice: String {
        switch self {
        case .refused(.altered), .refused(.damaged): "restore a backup, and find out who changed it"
        case .refused(.sealChanged): "if you didn't do that, don't use this keyring; restore a backup"
        case .refused(.notSealed): "check that this is the right folder; if it is, restore a backup"
        case .refused(.wrongSecret): "try again with the right one"
        case .refused: "check its type, its owner, and its permissions"
        case .notChecked: "run this again with the keyring's passphrase or key"
        case .inTheClear: "run `sealedpush keys passphrase` to seal them"
        case .readableByOthers:
            "run `chmod 600` on it; if it isn't sealed and another user may have read it, revoke its keys"
        case .writableByOthers: "run `chmod go-w` on it, and check that its contents are still correct"
        case .inconsistent: "restore a backup, and find out who changed the keyring"
        case .old(let name, _, _): "run `sealedpush keys rotate \(name)`"
        case .unconfirmed(let name, _, _, isOwn: true):
            "make sure that the other side has it, then run `sealedpush keys rotate \(name) --confirm`"
        case .unconfirmed(let name, _, _, isOwn: false):
            "run `sealedpush keys challenge \(name) --from SENDER` to have the device prove it"
        case .erasureDue: "run `sealedpush keys rotate --older-than 30d` daily; it erases keys that are due"
        case .unproven(let name, hasRecord: true):
            "run `sealedpush keys challenge \(name) --from SENDER` to get proof; until then, no message is sealed to it"
        case .unproven(_, hasRecord: false):
            "import the device's record, or compare fingerprints and seal with --unverified"
        case .recordExpires(_, _, _, isOwn: true):
            "run `sealedpush keys rotate --older-than 30d` to sign a new one, and send it to the server"
        case .recordExpires(_, _, _, isOwn: false): "ask the device's owner for a new one"
        case .senderSetExpires: "have the authority sign a new one, and add it with `sealedpush trust add`"
        case .authorityOnline: "keep it offline, in a separate keyring"
        case .logAltered:
            "find out what happened; to accept the log as it is, seal the keyring again with `sealedpush keys passphrase`"
        case .logUnreadable: "check its owner and its permissions"
        }
    }

    var json: JSONValue {
        [
            "code": .string(code), "severity": .string(severity.name), "subject": .string(subject),
            "sentence": .string(sentence), "advice": .string(advice),
        ]
    }

    private static func octal(_ mode: Int) -> String { String(mode, radix: 8) }
}
