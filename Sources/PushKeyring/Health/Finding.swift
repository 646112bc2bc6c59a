public import SealedPush

/// One thing that is wrong with a keyring, or that a person should know: what ``Keyring/examine(at:)`` finds.
///
/// Never holds a secret, and only prints: names of unknown files come with what moves a cursor taken out.
public struct Finding: Hashable, Sendable {
    public let code: Code
    public let subject: Subject
    /// One sentence.
    public let sentence: String
    /// What to do.
    public let advice: String

    public var severity: Severity { code.severity }

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

    public enum Subject: Hashable, Sendable, CustomStringConvertible {
        case keyring
        case name(KeyName)
        /// A path within the keyring's folder; that of the file that opens it, as it was given.
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
}

extension Finding {
    /// The file that holds the keyring's key or passphrase, where others may read it.
    package static func exposedSecretFile(_ file: String) -> Finding {
        let file = Examination.printable(file)
        return Finding(
            code: .readableByOthers, subject: .file(file),
            sentence: "other users may read \(file), which opens this keyring",
            advice: "`chmod 600` it; if somebody may have, seal the keyring anew with `sealedpush keys passphrase`")
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
