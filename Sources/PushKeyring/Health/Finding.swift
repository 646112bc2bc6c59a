public import SealedPush
internal import _PushBase

/// One thing that is wrong with a keyring, or that a person should know, and what concerns it: what
/// ``Keyring/examine(at:)`` finds.
///
/// Never holds a secret. Paths are within the keyring's folder and only print: in those of unknown files, what moves a cursor
/// is taken out. What each means says its ``code``.
public enum Finding: Hashable, Sendable {
    // Files.
    case damaged(path: String)
    case altered(path: String)
    case unreadable(path: String, message: String)
    case unreadableFolder(message: String)
    /// Neither the file nor the folder that should be there.
    case otherKind(path: String, isFolderExpected: Bool)
    case missing(KeyName)
    case missingTrustList
    case notInLog(KeyName)
    case link(path: String)
    case unknownFile(path: String)
    /// Those that are not named one by one.
    case moreUnknownFiles(count: Int)
    case doubleName(KeyName)
    /// - Parameter names: sorted.
    case doubleKey(KeyID, names: [KeyName])
    case unfinishedChange
    case leftover(path: String)
    /// - Parameter mode: the permission bits.
    case readableByOthers(path: String, mode: Int, isFolder: Bool)
    /// - Parameter right: the permission bits that it should have.
    case writableByOthers(path: String, mode: Int, right: Int)
    case notIgnored(path: String)

    // Sealing.
    case inTheClear(nameCount: Int)
    /// - Parameter isUnknown: whether the file is no part of a keyring.
    case straySecret(path: String, isUnknown: Bool)
    case sealMissing(sealedFileCount: Int)
    case sealChanged(isSealed: Bool, note: String)
    case sealDamaged
    case sealUnreadable(message: String)
    case notSealed
    case wrongSecret(KeyringSecret.Kind)
    /// And why not.
    case notChecked(KeyringError)

    // Keys.
    case aheadOfClock(KeyName, KeyID, created: Timestamp)
    /// - Parameter age: seconds.
    case old(KeyName, KeyID, age: Int64)
    case unconfirmed(KeyName, KeyID, created: Timestamp, isOwn: Bool)
    case erasureDue(KeyName, KeyID, since: Timestamp)
    case noneInUse(KeyName, isOwn: Bool)
    case recordExpires(KeyName, Timestamp, isOwn: Bool)
    case recordExpired(KeyName, Timestamp, isOwn: Bool)
    case neverAnswered(KeyName)
    case unverified(KeyName)
    case authorityOnline(KeyName)

    // Trust.
    case senderSetExpires(Topic, Timestamp)
    case senderSetExpired(Topic, Timestamp)
    case senderSetUnused(Topic)

    // The audit log.
    case logMissing
    case logBroken
    /// The log is gone, and its end is here.
    case logGone
    case logCut(lineCount: Int, expected: Int)
    /// The log is here, and its end is gone.
    case logHeadGone
    case logReplaced
}

extension Finding {
    /// A name that someone else may have chosen, as one short line.
    package static func printable(_ path: String) -> String {
        let text = TerminalText.printable(path)
        return text.count <= 120 ? text : text.prefix(117) + "..."
    }

    public var severity: Severity { code.severity }

    public var code: Code {
        switch self {
        case .damaged, .sealDamaged: .damaged
        case .altered: .altered
        case .unreadable, .unreadableFolder, .otherKind, .sealUnreadable: .unreadable
        case .missing, .missingTrustList: .missing
        case .notInLog: .notInLog
        case .link: .link
        case .unknownFile, .moreUnknownFiles: .unknownFile
        case .doubleName: .doubleName
        case .doubleKey: .doubleKey
        case .unfinishedChange: .unfinishedChange
        case .leftover: .leftover
        case .readableByOthers: .readableByOthers
        case .writableByOthers: .writableByOthers
        case .notIgnored: .notIgnored
        case .inTheClear: .inTheClear
        case .straySecret: .straySecret
        case .sealMissing: .sealMissing
        case .sealChanged: .sealChanged
        case .notSealed: .notSealed
        case .wrongSecret: .wrongSecret
        case .notChecked: .notChecked
        case .aheadOfClock: .aheadOfClock
        case .old: .old
        case .unconfirmed: .unconfirmed
        case .erasureDue: .erasureDue
        case .noneInUse: .noneInUse
        case .recordExpires: .recordExpires
        case .recordExpired: .recordExpired
        case .neverAnswered: .neverAnswered
        case .unverified: .unverified
        case .authorityOnline: .authorityOnline
        case .senderSetExpires: .senderSetExpires
        case .senderSetExpired: .senderSetExpired
        case .senderSetUnused: .senderSetUnused
        case .logMissing: .logMissing
        case .logBroken: .logBroken
        case .logGone, .logCut: .logCut
        case .logHeadGone, .logReplaced: .logMismatch
        }
    }

    public var subject: Subject {
        switch self {
        case .damaged(let path), .altered(let path), .unreadable(let path, _), .otherKind(let path, _), .link(let path),
            .unknownFile(let path), .leftover(let path), .readableByOthers(let path, _, _),
            .writableByOthers(let path, _, _), .notIgnored(let path), .straySecret(let path, _):
            .file(path)
        case .missing(let name), .notInLog(let name), .doubleName(let name), .aheadOfClock(let name, _, _),
            .old(let name, _, _), .unconfirmed(let name, _, _, _), .erasureDue(let name, _, _), .noneInUse(let name, _),
            .recordExpires(let name, _, _), .recordExpired(let name, _, _), .neverAnswered(let name),
            .unverified(let name), .authorityOnline(let name):
            .name(name)
        case .doubleKey(_, let names): names.first.map { .name($0) } ?? .keyring
        case .senderSetExpires(let topic, _), .senderSetExpired(let topic, _), .senderSetUnused(let topic):
            .topic(topic)
        case .missingTrustList: .file(TrustList.path)
        case .unfinishedChange: .file(KeyringFolder.changeName)
        case .sealMissing, .sealDamaged, .sealUnreadable: .file(KeyringSeal.path)
        case .logMissing, .logBroken, .logGone, .logCut, .logReplaced: .file(AuditLog.name)
        case .logHeadGone: .file(AuditHead.path)
        case .unreadableFolder, .moreUnknownFiles, .inTheClear, .sealChanged, .notSealed, .wrongSecret, .notChecked:
            .keyring
        }
    }

    public enum Subject: Hashable, Sendable, CustomStringConvertible {
        case keyring
        case name(KeyName)
        /// A path within the keyring's folder.
        case file(String)
        /// Whoever is trusted for an app.
        case topic(Topic)

        public var description: String {
            switch self {
            case .keyring: "keyring"
            case .name(let name): name.description
            case .file(let path): path
            case .topic(let topic): topic.description
            }
        }
    }

    public enum Severity: String, Sendable, CaseIterable, Comparable {
        /// Something is lost, unsafe or does not work.
        case problem
        /// It soon will be, or may be.
        case warning
        /// Good to know.
        case note

        public static func < (first: Severity, second: Severity) -> Bool { first.rank < second.rank }

        private var rank: Int {
            switch self {
            case .problem: 0
            case .warning: 1
            case .note: 2
            }
        }
    }

    /// Stable: `--json` and scripts carry it.
    public enum Code: String, Sendable, CaseIterable {
        // Files.
        /// A file is no file of a keyring any more.
        case damaged
        /// A file was changed by something else than the keyring.
        case altered
        /// A file or folder can't be read.
        case unreadable
        /// A file that the audit log speaks of is gone.
        case missing
        /// A name or key that the audit log does not know.
        case notInLog = "not-in-log"
        /// A link, where a file of the keyring's own should be.
        case link
        /// A file that is no part of a keyring.
        case unknownFile = "unknown-file"
        /// A name that has a file in both folders.
        case doubleName = "double-name"
        /// A key that has two names.
        case doubleKey = "double-key"
        /// A change that is made, and whose files are not all in place yet.
        case unfinishedChange = "unfinished-change"
        /// What a change has left that was never made.
        case leftover
        /// Others may read what should be closed to them.
        case readableByOthers = "readable-by-others"
        /// Others may change the keyring.
        case writableByOthers = "writable-by-others"
        /// Nothing keeps the private folder out of a repository.
        case notIgnored = "not-ignored"

        // Sealing.
        /// The keyring is not sealed.
        case inTheClear = "in-the-clear"
        /// A secret in the clear in a sealed keyring, or outside the private folder.
        case straySecret = "stray-secret"
        /// Files are sealed, and what says how is gone.
        case sealMissing = "seal-missing"
        /// It was seen sealed before, and now is not, or otherwise.
        case sealChanged = "seal-changed"
        /// A passphrase or key was given for a keyring that is not sealed.
        case notSealed = "not-sealed"
        /// The passphrase or key that was given is not the keyring's.
        case wrongSecret = "wrong-secret"
        /// Without the keyring's secret it was not checked whether files were altered.
        case notChecked = "not-checked"

        // Keys.
        /// Its clock was wrong, or this one is.
        case aheadOfClock = "ahead-of-clock"
        /// A key that is older than 90 days.
        case old
        /// A new key that nobody has confirmed for 45 days.
        case unconfirmed
        /// A retired key that should be erased by now.
        case erasureDue = "erasure-due"
        /// No key of the name is in use.
        case noneInUse = "none-in-use"
        /// A record that runs out within 60 days.
        case recordExpires = "record-expires"
        case recordExpired = "record-expired"
        /// Somebody else's device whose enrolment is pinned and that has never proven its key.
        case neverAnswered = "never-answered"
        /// Somebody else's device without a record.
        case unverified
        /// An authority's secret beside a sender's.
        case authorityOnline = "authority-online"

        // Trust.
        /// A sender set that runs out within 60 days.
        case senderSetExpires = "sender-set-expires"
        case senderSetExpired = "sender-set-expired"
        /// A sender set whose authority is not pinned.
        case senderSetUnused = "sender-set-unused"

        // The audit log.
        case logMissing = "log-missing"
        /// A line was changed, put in or taken out.
        case logBroken = "log-broken"
        /// Lines are missing at the end.
        case logCut = "log-cut"
        /// The log and its end do not belong together.
        case logMismatch = "log-mismatch"

        public var severity: Severity {
            switch self {
            case .damaged, .altered, .unreadable, .missing, .doubleName, .readableByOthers, .writableByOthers,
                .straySecret, .sealMissing, .sealChanged, .notSealed, .wrongSecret, .recordExpired, .senderSetExpired,
                .logBroken,
                .logCut, .logMismatch:
                .problem
            case .notInLog, .link, .unknownFile, .doubleKey, .leftover, .notIgnored, .inTheClear, .aheadOfClock,
                .unconfirmed, .erasureDue, .recordExpires, .neverAnswered, .senderSetExpires, .logMissing:
                .warning
            case .unfinishedChange, .notChecked, .old, .noneInUse, .unverified, .authorityOnline, .senderSetUnused:
                .note
            }
        }
    }
}
