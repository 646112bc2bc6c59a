internal import Foundation
public import SealedPush

/// One look over a keyring: what was found so far, and what later checks need of it.
struct Examination {
    let keyring: Keyring
    let seal: ExaminedSeal
    let now: Timestamp
    private(set) var findings: [Finding] = []
    /// The names that could be read.
    var entries: [KeyringEntry] = []
    /// The names that have a file, whatever is in it, and in which folders.
    var folders: [KeyName: Set<String>] = [:]
    /// Files of a sealed keyring, in one without a seal.
    var sealedFiles: [String] = []
    var isUnfinished = false

    init(of keyring: Keyring, _ seal: ExaminedSeal, at now: Timestamp) {
        self.keyring = keyring
        self.seal = seal
        self.now = now
    }

    mutating func run() {
        examineFolder()
        for subfolder in KeyringFolder.subfolders { examine(subfolder: subfolder) }
        entries.sort { $0.name.description < $1.name.description }
        examineNames()
        for entry in entries { examine(entry) }
        examineAuthorities()
        examineTrust()
        examineLog()
        examineSeal()
    }

    mutating func add(_ finding: Finding) { findings.append(finding) }

    var files: KeyringFolder { keyring.files }

    /// Whether something says that the keyring is sealed, even if it is damaged.
    var isSealed: Bool { (try? files.exists(KeyringSeal.path)) ?? true }
}

extension Examination {
    private mutating func examineSeal() {
        switch seal {
        case .unlocked: break
        case .notSealed: examineOpenKeyring()
        case .locked(.notSealed):
            add(.notSealed)
            examineOpenKeyring()
        case .locked(.sealMissing): examineOpenKeyring()
        case .locked(.sealChanged(_, let isSealed, let note)):
            add(.sealChanged(isSealed: isSealed, note: Finding.printable(note.path(percentEncoded: false))))
            if !isSealed { examineOpenKeyring() }
        case .locked(.wrongSecret(let kind)): add(.wrongSecret(kind))
        case .locked(.damaged): add(.sealDamaged)
        case .locked(.file(_, let message)): add(.sealUnreadable(message: message))
        case .locked(let error): add(.notChecked(error))
        }
    }

    private mutating func examineOpenKeyring() {
        if !sealedFiles.isEmpty { add(.sealMissing(sealedFileCount: sealedFiles.count)) }
        let count = entries.count { $0.keys.contains(where: \.hasSecret) }
        guard count > 0, sealedFiles.isEmpty else { return }
        add(.inTheClear(nameCount: count))
    }
}

extension Keyring {
    /// Looks the whole keyring over: its files, keys, trust list and audit log. Changes nothing, also where a change is
    /// unfinished, and works on a folder that can only be read.
    ///
    /// A file that can't be read does not affect the others. Where the keyring is sealed and its secret is not at hand, a finding
    /// says what was not checked. Costs a few hundred microseconds a file, and 0.2 s for a passphrase.
    ///
    /// - Returns: problems first, then warnings and notes, each about one thing; none where all is well.
    /// - Throws: `file` where there is no such folder, `busy` where another process changes it for a minute.
    public func examine(at now: Timestamp = .now()) throws(KeyringError) -> [Finding] {
        guard FileFacts(of: folder, following: true)?.kind == .folder else {
            throw .file(folder, message: "there is no such folder")
        }
        while true {
            let unlocking = ExaminedSeal(of: vault)
            let findings = try files.reading { () throws(KeyringError) -> [Finding]? in
                // Between the two, another process may have sealed the keyring anew.
                if let key = unlocking.key, (try? vault.isCurrent(key)) == false { return nil }
                var examination = Examination(of: self, unlocking, at: now)
                examination.run()
                return examination.findings
            }
            if let findings {
                return findings.enumerated().sorted {
                    ($0.element.severity, $0.offset) < ($1.element.severity, $1.offset)
                }
                .map(\.element)
            }
        }
    }
}

/// How far a keyring could be unlocked for being looked over.
enum ExaminedSeal {
    case notSealed
    case unlocked(MasterKey)
    /// Sealed, and this is why it was not unlocked.
    case locked(KeyringError)

    init(of vault: Vault) {
        do throws(KeyringError) {
            self = try vault.key().map { .unlocked($0) } ?? .notSealed
        } catch {
            self = .locked(error)
        }
    }

    var key: MasterKey? {
        guard case .unlocked(let key) = self else { return nil }
        return key
    }
}

extension Examination {
    /// The trust list, and what it says about sender sets.
    mutating func examineTrust() {
        let list: TrustList
        do throws(KeyringError) {
            let bytes = try files.read(TrustList.path)
            if bytes == nil, FileFacts(of: files.file(TrustList.path))?.kind == .link {
                return note(.file(files.file(TrustList.path), message: "the link leads nowhere"), TrustList.path)
            }
            if let bytes, !isSealed, TextFile.isOfSealedKeyring(bytes) { sealedFiles.append(TrustList.path) }
            list = try keyring.trustList(under: seal.key)
        } catch {
            if FileFacts(of: files.file(TrustList.path))?.kind == .file { note(error, TrustList.path) }
            return
        }
        for entry in list.entries {
            guard case .senderSet(let set) = entry.trusted else { continue }
            examine(set, for: entry.topic, in: list)
        }
    }

    private mutating func examine(_ set: SenderSet, for topic: Topic, in list: TrustList) {
        guard list.trustedSenders(for: topic).authorities.contains(set.authority), set.topic == topic else {
            return add(.senderSetUnused(topic))
        }
        if now > set.expires {
            add(.senderSetExpired(topic, set.expires))
        } else if set.expires.seconds(since: now) < RotationRules.renewal {
            add(.senderSetExpires(topic, set.expires))
        }
    }
}
