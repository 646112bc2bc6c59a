internal import PushCore
public import SealedPush

/// One thing that is wrong with a keyring, or that a person should know: what ``Keyring/examine(at:)`` finds.
///
/// Never holds a secret. ``code`` says what each means.
public enum Finding: Hashable, Sendable {
    /// Nothing of the keyring can be used, for this reason.
    case refused(KeyringError)
    /// The MAC was not checked, for this reason.
    case notChecked(KeyringError)
    case inTheClear(nameCount: Int)
    case readableByOthers(path: String, mode: Int)
    case writableByOthers(path: String, mode: Int)
    case leftover(path: String)
    case notIgnored
    case inconsistent(KeyName)
    /// - Parameter names: sorted.
    case doubleKey(KeyID, names: [KeyName])
    case aheadOfClock(KeyName, KeyID, created: Timestamp)
    /// - Parameter age: seconds.
    case old(KeyName, KeyID, age: Int64)
    case unconfirmed(KeyName, KeyID, created: Timestamp, isOwn: Bool)
    case erasureDue(KeyName, KeyID, since: Timestamp)
    case noneInUse(KeyName, isOwn: Bool)
    case unproven(KeyName, hasRecord: Bool)
    case recordExpires(KeyName, Timestamp, isOver: Bool, isOwn: Bool)
    case senderSetExpires(Topic, Timestamp, isOver: Bool)
    case authorityOnline(KeyName)
    case logShortened
    case logEdited
    case logUnreadable(message: String)

    /// Stable: `--json` and scripts carry it.
    public var code: String { facts.code }

    public var severity: Severity { facts.severity }

    private var facts: (code: String, severity: Severity) {
        switch self {
        case .refused(.altered): ("altered", .problem)
        case .refused(.notSealed): ("not-sealed", .problem)
        case .refused(.sealChanged): ("seal-changed", .problem)
        case .refused(.wrongSecret): ("wrong-secret", .problem)
        case .refused(.damaged): ("damaged", .problem)
        case .refused: ("unreadable", .problem)
        case .notChecked: ("not-checked", .note)
        case .inTheClear: ("in-the-clear", .warning)
        case .readableByOthers: ("readable-by-others", .problem)
        case .writableByOthers: ("writable-by-others", .problem)
        case .leftover: ("leftover", .warning)
        case .notIgnored: ("not-ignored", .warning)
        case .inconsistent: ("inconsistent", .problem)
        case .doubleKey: ("double-key", .warning)
        case .aheadOfClock: ("ahead-of-clock", .warning)
        case .old: ("old", .note)
        case .unconfirmed: ("unconfirmed", .warning)
        case .erasureDue: ("erasure-due", .warning)
        case .noneInUse: ("none-in-use", .note)
        case .unproven(_, let hasRecord): hasRecord ? ("never-answered", .warning) : ("unverified", .note)
        case .recordExpires(_, _, let isOver, _): isOver ? ("record-expired", .problem) : ("record-expires", .warning)
        case .senderSetExpires(_, _, let isOver):
            isOver ? ("sender-set-expired", .problem) : ("sender-set-expires", .warning)
        case .authorityOnline: ("authority-online", .note)
        case .logShortened: ("log-shortened", .problem)
        case .logEdited: ("log-edited", .problem)
        case .logUnreadable: ("log-unreadable", .problem)
        }
    }

    /// A name in the keyring, an app, a file, or `keyring`.
    public var subject: String {
        switch self {
        case .refused, .notChecked: KeyringFolder.keyringName
        case .inTheClear: "keyring"
        case .readableByOthers(let path, _), .writableByOthers(let path, _), .leftover(let path): path
        case .notIgnored: ".gitignore"
        case .doubleKey(_, let names): names.first?.description ?? "keyring"
        case .inconsistent(let name), .aheadOfClock(let name, _, _), .old(let name, _, _),
            .unconfirmed(let name, _, _, _), .erasureDue(let name, _, _), .noneInUse(let name, _),
            .unproven(let name, _), .recordExpires(let name, _, _, _), .authorityOnline(let name):
            name.description
        case .senderSetExpires(let topic, _, _): topic.description
        case .logShortened, .logEdited, .logUnreadable: KeyringFolder.logName
        }
    }

    public enum Severity: Int, Sendable, CaseIterable {
        /// Something is lost, unsafe or does not work.
        case problem
        /// It soon will be, or may be.
        case warning
        /// Good to know.
        case note
    }
}
