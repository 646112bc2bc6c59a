internal import Foundation
internal import PushCore
public import SealedPush

extension Keyring {
    /// Examines the whole keyring: its file, keys, trust list and audit log. Changes nothing, and works on a folder that can
    /// only be read.
    ///
    /// If the keyring is sealed and its secret is not at hand, a finding says what was not checked. Costs a few hundred
    /// microseconds a key, and 0.2 s for a passphrase.
    ///
    /// - Returns: problems first, then warnings and notes, each about one thing; none if all is well.
    /// - Throws: `file` if there is no such folder.
    public func examine(at now: Timestamp = .now()) throws(KeyringError) -> [Finding] {
        guard FileFacts(of: folder, following: true)?.isFolder == true else {
            throw .file(folder, message: "there is no such folder")
        }
        var examination = Examination(files: files, now: now)
        examination.run(vault)
        return examination.findings.enumerated().sorted {
            ($0.element.severity.rawValue, $0.offset) < ($1.element.severity.rawValue, $1.offset)
        }.map(\.element)
    }
}

/// One look over a keyring, and what was found so far.
private struct Examination {
    let files: KeyringFolder
    let now: Timestamp
    var findings: [Finding] = []

    mutating func run(_ vault: Vault) {
        examineFiles()
        let reading: Vault.Reading
        do throws(KeyringError) { reading = try vault.read(.full) } catch {
            findings.append(error.isLocked ? .notChecked(error) : .refused(error))
            guard error.isLocked, let unchecked = try? vault.read(.atHand) else { return }
            return examine(unchecked)
        }
        examine(reading)
    }

    private mutating func examine(_ reading: Vault.Reading) {
        let contents = reading.contents
        let entries = contents.sortedNames.compactMap { name in
            contents.names[name].map { KeyringEntry(name: name, $0) }
        }
        let secretCount = entries.count { $0.keys.contains(where: \.hasSecret) }
        if reading.seal == nil, secretCount > 0 { findings.append(.inTheClear(nameCount: secretCount)) }
        for (name, keys) in contents.names.sorted(by: { $0.key.description < $1.key.description })
        where !keys.isConsistent { findings.append(.inconsistent(name)) }
        examineDoubleKeys(entries)
        for entry in entries { examine(entry) }
        examineAuthorities(entries)
        for entry in contents.trust.entries {
            guard case .senderSet(let set) = entry.trusted, let isOver = end(set.expires) else { continue }
            findings.append(.senderSetExpires(entry.topic, set.expires, isOver: isOver))
        }
        if reading.exists { examineLog(upTo: contents.log) }
    }

    private mutating func examineFiles() {
        if FileFacts(of: files.keyring) != nil, FileFacts(of: files.url.appending(path: ".gitignore")) == nil {
            findings.append(.notIgnored)
        }
        for (path, isPrivate) in [(".", false), (KeyringFolder.keyringName, true), (KeyringFolder.logName, false)] {
            let file = path == "." ? files.url : files.url.appending(path: path)
            guard let facts = FileFacts(of: file, following: path == ".") else { continue }
            if facts.mode & 0o022 != 0 { findings.append(.writableByOthers(path: path, mode: facts.mode & 0o777)) }
            if isPrivate, facts.mode & 0o044 != 0 {
                findings.append(.readableByOthers(path: path, mode: facts.mode & 0o777))
            }
        }
        for name in ((try? DurableFiles.names(in: files.url)) ?? []).sorted()
        where name.hasPrefix(KeyringFolder.unfinishedPrefix) { findings.append(.leftover(path: Self.printable(name))) }
    }

    private mutating func examineDoubleKeys(_ entries: [KeyringEntry]) {
        var names: [AnyPublicKey: [KeyName]] = [:]
        for entry in entries {
            for key in Set(entry.keys.map(\.key)) { names[key, default: []].append(entry.name) }
        }
        for (key, names) in names.sorted(by: { $0.key.description < $1.key.description }) where names.count > 1 {
            findings.append(.doubleKey(key.keyID, names: names))
        }
    }

    /// The life of one name's keys.
    private mutating func examine(_ entry: KeyringEntry) {
        let active = entry.keys.filter { $0.life.state == .active }
        let lead = TimeRules.maximumLead(isAnonymous: false)
        if let ahead = entry.keys.first(where: { $0.life.created.seconds(since: now) > lead }) {
            findings.append(.aheadOfClock(entry.name, ahead.key.keyID, created: ahead.life.created))
        }
        if active.isEmpty { findings.append(.noneInUse(entry.name, isOwn: entry.isOwn)) }
        examineConfirmation(entry, active)
        if entry.isOwn {
            for key in entry.keys {
                guard let due = key.life.erasureDue, now >= due else { continue }
                findings.append(.erasureDue(entry.name, key.key.keyID, since: due))
            }
            examineAge(entry, active)
        }
        if let expires = entry.recordExpires, let isOver = end(expires) {
            findings.append(.recordExpires(entry.name, expires, isOver: isOver, isOwn: entry.isOwn))
        }
    }

    private mutating func examineConfirmation(_ entry: KeyringEntry, _ active: [KeyringEntry.Key]) {
        let isConfirmed = active.contains { $0.life.confirmed != nil }
        if !entry.isOwn, entry.kind == .device, !active.isEmpty, !isConfirmed {
            return findings.append(.unproven(entry.name, hasRecord: entry.recordText != nil))
        }
        guard let waiting = active.first(where: { $0.life.confirmed == nil }),
            now.seconds(since: waiting.life.created) > RotationRules.confirmationWarning
        else { return }
        findings.append(.unconfirmed(entry.name, waiting.key.keyID, created: waiting.life.created, isOwn: entry.isOwn))
    }

    private mutating func examineAge(_ entry: KeyringEntry, _ active: [KeyringEntry.Key]) {
        // One that waits to take its place is spoken of above.
        guard entry.kind != .authority, let newest = active.first, newest.life.confirmed != nil else { return }
        let age = now.seconds(since: newest.life.created)
        if age > Self.oldAge { findings.append(.old(entry.name, newest.key.keyID, age: age)) }
    }

    /// Authorities that share a keyring with what they vouch for.
    private mutating func examineAuthorities(_ entries: [KeyringEntry]) {
        let own = entries.filter { $0.keys.contains(where: \.hasSecret) }
        guard own.contains(where: { $0.kind == .sender }) else { return }
        for authority in own where authority.kind == .authority { findings.append(.authorityOnline(authority.name)) }
    }

    private mutating func examineLog(upTo end: AuditLog.End) {
        do throws(DurableFiles.Failure) {
            switch try AuditLog.condition(of: files.log, upTo: end) {
            case .whole: break
            case .shortened: findings.append(.logShortened)
            case .edited: findings.append(.logEdited)
            }
        } catch { findings.append(.logUnreadable(message: error.message)) }
    }

    /// Whether an end has passed; nil if it is not near.
    private func end(_ moment: Timestamp) -> Bool? {
        if now > moment { return true }
        return moment.seconds(since: now) < RotationRules.renewal ? false : nil
    }

    /// A name that someone else may have chosen, as one short line.
    private static func printable(_ path: String) -> String {
        let text = TerminalText.printable(path)
        return text.count <= 120 ? text : text.prefix(117) + "..."
    }

    /// Seconds: 90 days.
    private static let oldAge: Int64 = 90 * 86_400
}

extension KeyringError {
    /// Only the secret is lacking.
    fileprivate var isLocked: Bool {
        guard case .needsSecret = self else { return false }
        return true
    }
}

/// What the system knows of a file without opening it.
struct FileFacts {
    /// The permission bits.
    let mode: Int
    let byteCount: Int
    let isFolder: Bool

    /// Nil if there is nothing.
    init?(of file: URL, following: Bool = false) {
        var status = stat()
        let path = file.path(percentEncoded: false)
        guard (following ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        mode = Int(status.st_mode & 0o7777)
        byteCount = Int(status.st_size)
        isFolder = status.st_mode & S_IFMT == S_IFDIR
    }
}
