internal import Foundation
internal import SealedPush

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

    /// Whether something says that the keyring is sealed, be it damaged.
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
