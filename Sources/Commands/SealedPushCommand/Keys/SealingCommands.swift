internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring

struct PassphraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase",
        abstract: "Seal the keyring's secrets: under a passphrase, or under a key in a file.",
        usage: "sealedpush keys passphrase [<options>]",
        discussion: """
            Everything is sealed anew, in one change. The one it had before is asked for, or named as everywhere.

            Examples:
              sealedpush keys passphrase --keyring Keys
              sealedpush keys passphrase --new-unlock /etc/sealedpush.key --keyring Keys
              sealedpush keys passphrase --clear --keyring Keys

            If the file is missing, it is made, with a key: keep it where backups of the keyring are not. A passphrase \
            that is lost can't be replaced.
            """)

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    @Option(help: .value("file", "The new key or passphrase, as --unlock takes it next.")) var newUnlock: String?

    @Flag(help: "Leave the secrets in the clear, for your user alone.") var clear = false

    @Flag(help: "Do not ask.") var yes = false

    func validate() throws {
        guard newUnlock == nil || !clear else { throw ValidationError("Give either --new-unlock or --clear.") }
    }

    func run() throws {
        let keys = try keyring.keysToSeal("keys passphrase")
        if clear {
            try Prompt.confirm(
                "The secrets in \(keyring.keyring) will be in the clear: anyone who reads the files has the keys.",
                isConfirmed: yes)
            try keys.seal(with: nil)
            return try Output.line("The secrets in \(keyring.keyring) are in the clear.")
        }
        // The old secret first: a key file that was made for nothing would be taken for the keyring's.
        _ = try keys.trustList()
        let secret = try Secrets.newSecret(
            file: newUnlock, option: "--new-unlock", question: "New passphrase: ", for: "the keyring")
        // One that is not sealed, or does not exist yet, has no secret to differ from.
        if try keys.sealKind() != nil { try requireOther(secret) }
        try keys.seal(with: secret)
        try Output.line("\(keyring.keyring) is sealed with a \(secret.kind.rawValue).")
    }

    /// After a theft it would look done.
    private func requireOther(_ secret: KeyringSecret) throws {
        let same = Keyring(
            folder: URL(filePath: keyring.keyring), unlocking: .given(secret),
            expecting: .ofUser(isRequired: false), command: "keys passphrase")
        guard (try? same.trustList()) == nil else {
            throw Failure.input(
                "\(keyring.keyring) is sealed with this \(secret.kind.rawValue) already: nothing was changed")
        }
    }
}

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write the keyring into one encrypted file, without retired keys.",
        usage: "sealedpush keys backup [<options>] <file>",
        discussion: """
            Examples:
              sealedpush keys backup keys-2026-11.backup --keyring Keys
              sealedpush keys backup keys.backup --backup-secret backup.key --keyring Keys

            Without the passphrase or key that it is made with, a backup opens nothing.
            """)

    @Argument(help: "A new file; never overwritten.") var file: String

    @Option(help: .value("file", "The backup's passphrase or key; a key is made if the file is missing."))
    var backupSecret: String?

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        try Output.requireNew(file)
        let keys = try keyring.keys("keys backup")
        let secret = try Secrets.newSecret(
            file: backupSecret, option: "--backup-secret", question: "Passphrase for the backup: ", for: "the backup")
        let bytes = try keys.backup(under: secret)
        try Secrets.makeFile(file, bytes)
        try Output.line("\(file): \(bytes.count) bytes; `keys restore` reads it")
    }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Make a keyring from a backup; never overwrites one.",
        usage: "sealedpush keys restore [<options>] <file>",
        discussion: """
            It is sealed with the backup's passphrase or key, unless it is given one of its own.

            Example:
              sealedpush keys restore keys-2026-11.backup --keyring Keys
            """)

    @Argument(help: "The backup.") var file: String

    @Option(help: .value("file", "The backup's passphrase or key.")) var backupSecret: String?

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        let bytes = try Input.read(file, limit: Keyring.maximumBackupByteCount)
        let secret = try secret(for: Keyring.backupKind(bytes))
        let names = try keyring.newKeys("keys restore").restore(bytes, with: secret)
        for name in names { try Output.line("\(name) is back") }
        if names.isEmpty { try Output.line("There were no keys in the backup.") }
    }

    private func secret(for kind: KeyringSecret.Kind) throws -> KeyringSecret {
        if let backupSecret { return try Secrets.secret(file: backupSecret) }
        guard kind == .passphrase, let passphrase = try Prompt.passphrase("Passphrase of the backup: ") else {
            throw Failure(
                status: 77, message: "the backup is sealed with a \(kind.rawValue): name its file with --backup-secret")
        }
        return .passphrase(passphrase)
    }
}
