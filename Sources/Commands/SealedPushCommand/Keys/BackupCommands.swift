internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys backup`
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

    @OptionGroup(title: "Backup") var backup: BackupOptions
    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            guard !FileManager.default.fileExists(atPath: file) else {
                throw Failure.file("\(file) exists already, and is not overwritten")
            }
            let bytes = try keyring.keys("keys backup").backup(under: backup.newSecret())
            do throws(DurableFiles.Failure) {
                try DurableFiles.write(bytes, to: URL(filePath: file), mode: 0o600)
                try DurableFiles.sync(folder: URL(filePath: file).deletingLastPathComponent())
            } catch { throw Failure.file("\(file): \(error.message)") }
            try Output.line("\(file): \(bytes.count) bytes; `keys restore` reads it")
        }
    }
}

/// `sealedpush keys restore`
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

    @OptionGroup(title: "Backup") var backup: BackupOptions
    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let bytes = try Input.read(file, limit: Keyring.maximumBackupByteCount)
            let secret = try backup.secret(for: Keyring.backupKind(bytes))
            let names = try keyring.newKeys("keys restore").restore(bytes, with: secret)
            for name in names { try Output.line("\(name) is back") }
            if names.isEmpty { try Output.line("There were no keys in the backup.") }
        }
    }
}

/// What a backup is sealed with, which need not be what the keyring is.
struct BackupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the backup's passphrase or key; `keys backup` makes a key if it is missing.",
            valueName: "file"))
    var backupSecret: String?

    func newSecret() throws -> KeyringSecret {
        if let backupSecret {
            guard backupSecret == "-" || FileManager.default.fileExists(atPath: backupSecret) else {
                let key = try Secrets.makeKey(file: backupSecret)
                Failure.report("made \(backupSecret): without it the backup can't be opened")
                return .key(key)
            }
            return Secrets.new(try Secrets.secret(file: backupSecret))
        }
        guard let passphrase = try Prompt.newPassphrase("Passphrase for the backup: ") else {
            throw Failure.usage("there is no terminal to ask at: name a file with --backup-secret")
        }
        return Secrets.new(.passphrase(passphrase))
    }

    func secret(for kind: KeyringSecret.Kind) throws -> KeyringSecret {
        if let backupSecret { return try Secrets.secret(file: backupSecret) }
        switch kind {
        case .key:
            throw Failure(status: 77, message: "the backup is sealed with a key: name its file with --backup-secret")
        case .passphrase:
            guard let passphrase = try Prompt.passphrase("Passphrase of the backup: ") else {
                throw Failure(
                    status: 77, message: "the backup is sealed with a passphrase: name its file with --backup-secret")
            }
            return .passphrase(passphrase)
        }
    }
}
