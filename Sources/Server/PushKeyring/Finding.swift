internal import Foundation
internal import PushCore
public import SealedPush

/// A problem with a keyring, or a fact that its owner should know, from ``Keyring/examine(at:)``. It never contains a secret.
public enum Finding: Hashable, Sendable {
    /// The keyring can't be used at all, for this reason.
    case refused(KeyringError)
    /// The MAC wasn't checked, for this reason.
    case notChecked(KeyringError)
    /// The keyring isn't sealed, and this many names have secrets.
    case inTheClear(nameCount: Int)
    /// Other users can read a file with secrets; the path is relative to the folder.
    case readableByOthers(path: String, mode: Int)
    /// Other users can change a file or the folder; the path is relative to the folder.
    case writableByOthers(path: String, mode: Int)
    /// The name's keys contradict one another or their record, so the file was edited or damaged.
    case inconsistent(KeyName)
    /// The newest key has been in use for more than 90 days.
    ///
    /// - Parameter age: In seconds.
    case old(KeyName, KeyID, age: Int64)
    /// A new key has waited too long to be confirmed at the other end.
    case unconfirmed(KeyName, KeyID, created: Timestamp, isOwn: Bool)
    /// A retired key should have been erased since then.
    case erasureDue(KeyName, KeyID, since: Timestamp)
    /// Another owner's device has never proven that it holds its key. Without a record, the key isn't even signed.
    case unproven(KeyName, hasRecord: Bool)
    /// A device's record expires soon, or has expired.
    case recordExpires(KeyName, Timestamp, isOver: Bool, isOwn: Bool)
    /// An app's sender set expires soon, or has expired.
    case senderSetExpires(Topic, Timestamp, isOver: Bool)
    /// An authority's secret is stored next to a sender's, so a thief would get both.
    case authorityOnline(KeyName)
    /// A line of the audit log was changed, added, or removed.
    case logAltered
    /// The audit log can't be read, for this reason.
    case logUnreadable(message: String)

    /// A stable code for `--json` and scripts.
    public var code: String { facts.code }

    /// How urgent it is.
    public var severity: Severity { facts.severity }

    /// The subject: a name in the keyring, an app, a file, or `keyring`.
    public var subject: String { "\(facts.subject)" }

    private var facts: (code: String, severity: Severity, subject: any CustomStringConvertible) {
        switch self {
        case .refused(let error): (Self.code(of: error), .problem, KeyringFolder.keyringName)
        case .notChecked: ("not-checked", .note, KeyringFolder.keyringName)
        case .inTheClear: ("in-the-clear", .warning, "keyring")
        case .readableByOthers(let path, _): ("readable-by-others", .problem, path)
        case .writableByOthers(let path, _): ("writable-by-others", .problem, path)
        case .inconsistent(let name): ("inconsistent", .problem, name)
        case .old(let name, _, _): ("old", .note, name)
        case .unconfirmed(let name, _, _, _): ("unconfirmed", .warning, name)
        case .erasureDue(let name, _, _): ("erasure-due", .warning, name)
        case .unproven(let name, hasRecord: true): ("never-answered", .warning, name)
        case .unproven(let name, hasRecord: false): ("unverified", .note, name)
        case .recordExpires(let name, _, isOver: true, isOwn: _): ("record-expired", .problem, name)
        case .recordExpires(let name, _, isOver: false, isOwn: _): ("record-expires", .warning, name)
        case .senderSetExpires(let topic, _, isOver: true): ("sender-set-expired", .problem, topic)
        case .senderSetExpires(let topic, _, isOver: false): ("sender-set-expires", .warning, topic)
        case .authorityOnline(let name): ("authority-online", .note, name)
        case .logAltered: ("log-altered", .problem, KeyringFolder.logName)
        case .logUnreadable: ("log-unreadable", .problem, KeyringFolder.logName)
        }
    }

    private static func code(of error: KeyringError) -> String {
        switch error {
        case .altered: "altered"
        case .notSealed: "not-sealed"
        case .sealChanged: "seal-changed"
        case .wrongSecret: "wrong-secret"
        case .damaged: "damaged"
        case .exposed: "exposed"
        default: "unreadable"
        }
    }

    /// How urgent a finding is.
    public enum Severity: Int, Sendable, CaseIterable {
        /// Something is lost, unsafe, or not working.
        case problem
        /// Something soon will be, or may be.
        case warning
        /// Good to know.
        case note

        /// The name in JSON and in lists.
        package var name: String {
            switch self {
            case .problem: "problem"
            case .warning: "warning"
            case .note: "note"
            }
        }
    }
}

extension Keyring {
    /// Examines the whole keyring: its file, keys, trust list, and audit log. Makes no changes, so a read-only folder is fine.
    ///
    /// If the keyring is sealed and its secret isn't available, a finding says what wasn't checked. Takes a few hundred
    /// microseconds for each key, and 0.2 s for a passphrase.
    ///
    /// - Returns: The findings, one for each subject: problems first, then warnings and notes. Empty if all is well.
    /// - Throws: `file` if the folder doesn't exist.
    public func examine(at now: Timestamp = .now()) throws(KeyringError) -> [Finding] {
        guard FileFacts(of: folder, following: true)?.isFolder == true else {
            throw .file(folder, message: "there is no such folder")
        }
        var findings = files.findings
        do throws(KeyringError) {
            findings += self.findings(in: try read(.full), at: now)
        } catch {
            switch error {
            case .needsSecret, .exposed:
                if case .needsSecret = error {
                    findings.append(.notChecked(error))
                } else if findings.isEmpty {
                    // It isn't a mode, which would be a finding of its own, but an owner, or a folder above.
                    findings.append(.refused(error))
                }
                if let unchecked = try? read(.known(nil)) { findings += self.findings(in: unchecked, at: now) }
            default: findings.append(.refused(error))
            }
        }
        return Finding.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }

    private func findings(in reading: Reading, at now: Timestamp) -> [Finding] {
        let names = reading.contents.sorted
        let withSecrets = names.filter { $0.keys.contains { $0.secret != nil } }
        var findings: [Finding] = []
        if reading.exists, reading.seal == nil, !withSecrets.isEmpty {
            findings.append(.inTheClear(nameCount: withSecrets.count))
        }
        findings += names.flatMap { $0.findings(at: now) }
        // A thief of the sender's key would also get the key that signs for senders.
        if withSecrets.contains(where: { $0.kind == .sender }) {
            findings += withSecrets.filter { $0.kind == .authority }.map { .authorityOnline($0.name) }
        }
        for entry in reading.contents.trust.entries {
            guard let set = entry.trusted.senderSet, set == reading.contents.trust.senderSet(for: entry.topic),
                let isOver = set.expires.isOver(at: now)
            else { continue }
            findings.append(.senderSetExpires(entry.topic, set.expires, isOver: isOver))
        }
        do throws(DurableFiles.Failure) {
            if try !AuditLog.isWhole(files.log, upTo: reading.contents.log) { findings.append(.logAltered) }
        } catch { findings.append(.logUnreadable(message: error.message)) }
        return findings
    }
}

extension KeyringFolder {
    fileprivate var findings: [Finding] {
        var findings: [Finding] = []
        for (path, isSecret) in [(".", false), (Self.keyringName, true), (Self.logName, false)] {
            guard let facts = FileFacts(of: path == "." ? url : url.appending(path: path), following: path == ".")
            else { continue }
            let mode = facts.mode & 0o777
            if mode & 0o022 != 0 { findings.append(.writableByOthers(path: path, mode: mode)) }
            if isSecret, mode & 0o044 != 0 { findings.append(.readableByOthers(path: path, mode: mode)) }
        }
        return findings
    }
}

extension NamedKeys {
    fileprivate func findings(at now: Timestamp) -> [Finding] {
        var findings: [Finding] = isConsistent ? [] : [.inconsistent(name)]
        let waiting = keys.first { $0.life.state == .active && $0.life.confirmed == nil }
        if !isOwn, kind == .device, newest != nil, newestConfirmed == nil {
            findings.append(.unproven(name, hasRecord: recordText != nil))
        } else if let waiting, waiting.life.isOverdue(at: now) {
            findings.append(.unconfirmed(name, waiting.key.keyID, created: waiting.life.created, isOwn: isOwn))
        }
        if isOwn {
            for key in keys {
                guard let due = key.life.erasureDue(), now >= due else { continue }
                findings.append(.erasureDue(name, key.key.keyID, since: due))
            }
            // A key that is waiting to take its place is reported above.
            if kind != .authority, let newest, newest.life.confirmed != nil {
                let age = now.seconds(since: newest.life.created)
                if age > RotationRules.advisedAge { findings.append(.old(name, newest.key.keyID, age: age)) }
            }
        }
        if let recordExpires, let isOver = recordExpires.isOver(at: now) {
            findings.append(.recordExpires(name, recordExpires, isOver: isOver, isOwn: isOwn))
        }
        return findings
    }
}

extension Timestamp {
    /// Whether this expiration has passed, or nil if it isn't near.
    fileprivate func isOver(at now: Timestamp) -> Bool? {
        if now > self { return true }
        return seconds(since: now) < RotationRules.renewal ? false : nil
    }
}
