internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring

struct PassphraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Seal the keyring's secrets with a passphrase or with a key in a file.",
        usage: "sealedpush keys passphrase [<options>]",
        discussion: """
            Reseals everything in one change. Prompts for the previous passphrase unless --unlock provides it, or a key.

            Examples:
              sealedpush keys passphrase --keyring Keys
              sealedpush keys passphrase --new-unlock /etc/sealedpush.key --keyring Keys
              sealedpush keys passphrase --clear --keyring Keys

            If the --new-unlock file doesn't exist, it is created with a new key; keep it apart from backups of the \
            keyring. A lost passphrase can't be recovered.
            """)

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    @Option(help: .value("file", "The new key or passphrase; later used with --unlock.")) var newUnlock: String?

    @Flag(help: "Leave the secrets in the clear, readable only by you.") var clear = false

    @Flag(help: "Don't ask for confirmation.") var yes = false

    func validate() throws {
        guard newUnlock == nil || !clear else { throw ValidationError("Use either --new-unlock or --clear.") }
    }

    func run() throws {
        let keys = try keyring.keysToSeal("keys passphrase")
        if clear {
            try Prompt.confirm(
                "The secrets in \(keyring.keyring) will be in the clear; anyone who reads the files has the keys.",
                isConfirmed: yes)
            try keys.seal(with: nil)
            return try Output.line("The secrets in \(keyring.keyring) are now in the clear.")
        }
        // Check the old secret first.
        _ = try keys.trustList()
        let (secret, created) = try Secrets.newSecret(
            file: newUnlock, option: "--new-unlock", question: "New passphrase: ", for: "the keyring")
        // After a theft, resealing with the current secret would only look like a change.
        guard isSealed(with: secret) != true else {
            throw Failure.input(
                "\(keyring.keyring) is already sealed with this \(secret.kind.rawValue); nothing was changed")
        }
        do { try keys.seal(with: secret) } catch {
            // The change can fail after it took effect, and then the new file has the only key.
            if isSealed(with: secret) == false { created?.remove() }
            throw error
        }
        try Output.line("\(keyring.keyring) is now sealed with a \(secret.kind.rawValue).")
    }

    /// Whether the keyring is sealed with this secret; nil if it can't be read.
    private func isSealed(with secret: KeyringSecret) -> Bool? {
        let keys = Keyring(
            folder: URL(filePath: keyring.keyring), unlocking: .given(secret), command: "keys passphrase")
        do throws(KeyringError) {
            guard try keys.sealKind() != nil else { return false }
            _ = try keys.trustList()
            return true
        } catch {
            switch error {
            case .notSealed, .needsSecret, .wrongSecret: return false
            default: return nil
            }
        }
    }
}

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write the keyring to one encrypted file, without retired keys.",
        usage: "sealedpush keys backup [<options>] <file>",
        discussion: """
            Examples:
              sealedpush keys backup keys-2026-11.backup --keyring Keys
              sealedpush keys backup keys.backup --backup-secret backup.key --keyring Keys

            A backup can't be opened without the passphrase or key it was made with.
            """)

    @Argument(help: "A new file; an existing one is never overwritten.") var file: String

    @Option(help: .value("file", "Its passphrase or key; a missing file gets a new key."))
    var backupSecret: String?

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        try OutputFile.requireNew(file)
        let keys = try keyring.keys("keys backup")
        let (secret, created) = try Secrets.newSecret(
            file: backupSecret, option: "--backup-secret", question: "New backup passphrase: ", for: "the backup")
        let bytes: [UInt8]
        do {
            bytes = try keys.backup(under: secret)
            try OutputFile.create(file, bytes, mode: 0o600)
        } catch {
            created?.remove()
            throw error
        }
        try Output.line("\(file): \(bytes.count) bytes; restore it with `keys restore`")
    }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Create a keyring from a backup; never overwrites one.",
        usage: "sealedpush keys restore [<options>] <file>",
        discussion: """
            The keyring is sealed with the backup's passphrase or key, unless you specify a different one with --unlock.

            Example:
              sealedpush keys restore keys-2026-11.backup --keyring Keys
            """)

    @Argument(help: "The backup.") var file: String

    @Option(help: .value("file", "The backup's passphrase or key.")) var backupSecret: String?

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        let bytes = try InputFile.read(file, limit: Keyring.maximumBackupByteCount)
        let secret = try secret(for: Keyring.backupKind(bytes))
        let names = try keyring.newKeys("keys restore").restore(bytes, with: secret)
        for name in names { try Output.line("\(name) is restored") }
        if names.isEmpty { try Output.line("The backup contains no keys.") }
    }

    private func secret(for kind: KeyringSecret.Kind) throws -> KeyringSecret {
        if let backupSecret { return try Secrets.secret(SecretFile(backupSecret, from: "--backup-secret")) }
        guard kind == .passphrase, let passphrase = try Prompt.passphrase("Backup passphrase: ") else {
            throw Failure(
                status: 77, message: "the backup is sealed with a \(kind.rawValue); use its file with --backup-secret")
        }
        return .passphrase(passphrase)
    }
}
