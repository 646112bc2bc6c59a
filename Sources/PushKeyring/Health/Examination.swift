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

    mutating func add(_ code: Finding.Code, _ subject: Finding.Subject, _ sentence: String, _ advice: String) {
        findings.append(Finding(code: code, subject: subject, sentence: sentence, advice: advice))
    }

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
            add(
                .notSealed, .keyring,
                "a passphrase or key was given, or a seal demanded, and this keyring is not sealed",
                "look whether this is the right folder, and whether keyring.txt was taken away")
            examineOpenKeyring()
        case .locked(.sealMissing): examineOpenKeyring()
        case .locked(.sealChanged(_, let isSealed, let note)):
            let note = Self.printable(note.path(percentEncoded: false))
            add(
                .sealChanged, .keyring,
                "it was sealed when it was last used, and \(isSealed ? "is sealed anew now" : "is not sealed now")",
                "if that was you, accept it with `rm '\(note)'`; if not, use nothing of it, and restore a backup")
            if !isSealed { examineOpenKeyring() }
        case .locked(.wrongSecret(let kind)):
            add(
                .wrongSecret, .keyring,
                "the \(kind.rawValue) that was given is not this keyring's, or keyring.txt was changed",
                "try again with the right one; if it is the right one, restore the keyring from a backup")
        case .locked(.damaged):
            add(
                .damaged, .file(KeyringSeal.path), "keyring.txt, which says how the keyring is sealed, is damaged",
                "restore it from a copy; without it the secrets can't be opened")
        case .locked(.file(_, let message)):
            add(
                .unreadable, .file(KeyringSeal.path), "keyring.txt can't be read: \(message)",
                "look at its kind, its owner and its permissions")
        case .locked(let error):
            add(
                .notChecked, .keyring, "whether files were altered was not checked: \(error)",
                "run this again with the keyring's passphrase or key")
        }
    }

    private mutating func examineOpenKeyring() {
        if !sealedFiles.isEmpty {
            add(
                .sealMissing, .file(KeyringSeal.path),
                "keyring.txt is gone, and \(sealedFiles.count) files are of a sealed keyring",
                "restore it from a copy; without it the secrets can't be opened")
        }
        let count = entries.count { $0.keys.contains(where: \.hasSecret) }
        guard count > 0, sealedFiles.isEmpty else { return }
        add(
            .inTheClear, .keyring, "the secrets of \(count) names are in the clear, for whoever reads the files",
            "`sealedpush keys passphrase` seals them")
    }
}
