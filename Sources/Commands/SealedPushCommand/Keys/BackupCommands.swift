internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys backup`
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Writes the keyring into one encrypted file, without retired keys.",
        discussion: """
            Examples:
              sealedpush keys backup keys-2026-11.backup --keyring Keys
              sealedpush keys backup keys.backup --backup-key-file backup.key --keyring Keys

            Without the passphrase or key that it is made with, a backup opens nothing.
            """)

    @Argument(help: "A new file; never overwritten.")
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var backup: BackupOptions
    @OptionGroup var keyring: KeyringOptions

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
            if json {
                return try Output.json(["file": .string(file), "bytes": .integer(Int64(bytes.count))])
            }
            try Output.line("\(file): \(bytes.count) bytes; `keys restore` reads it")
        }
    }
}

/// `sealedpush keys restore`
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a keyring from a backup; never overwrites one.",
        discussion: """
            It is sealed with the backup's passphrase or key, unless it is given one of its own.

            Example:
              sealedpush keys restore keys-2026-11.backup --keyring Keys
            """)

    @Argument(help: "The backup.")
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var backup: BackupOptions
    @OptionGroup var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let bytes = try Input.read(file, limit: Keyring.maximumBackupByteCount)
            let secret = try backup.secret(for: Keyring.backupKind(bytes))
            let names = try keyring.newKeys("keys restore").restore(bytes, with: secret)
            if json { return try Output.json(["names": .array(names.map { .string($0.description) })]) }
            for name in names { try Output.line("\(name) is back") }
            if names.isEmpty { try Output.line("There were no keys in the backup.") }
        }
    }
}

/// What a backup is sealed with, which need not be what the keyring is.
struct BackupOptions: ParsableArguments {
    @Option(help: "A file with the backup's passphrase; - for standard input.")
    var backupPassphraseFile: String?

    @Option(help: "A file with the backup's key; made if it is missing where a backup is made.")
    var backupKeyFile: String?

    func validate() throws {
        guard backupPassphraseFile == nil || backupKeyFile == nil else {
            throw ValidationError("Give either --backup-passphrase-file or --backup-key-file.")
        }
    }

    func newSecret() throws -> KeyringSecret {
        if let backupPassphraseFile { return Secrets.new(try Secrets.passphrase(file: backupPassphraseFile)) }
        if let backupKeyFile {
            guard FileManager.default.fileExists(atPath: backupKeyFile) else {
                let key = try Secrets.makeKey(file: backupKeyFile)
                Failure.report("made \(backupKeyFile): without it the backup can't be opened")
                return .key(key)
            }
            return .key(try SecretFile.keyringKey(backupKeyFile))
        }
        guard let passphrase = try Prompt.newPassphrase("Passphrase for the backup: ") else {
            throw Failure.usage("there is no terminal to ask at: name --backup-passphrase-file or --backup-key-file")
        }
        return Secrets.new(passphrase)
    }

    func secret(for kind: KeyringSecret.Kind) throws -> KeyringSecret {
        if let backupPassphraseFile { return .passphrase(try Secrets.passphrase(file: backupPassphraseFile)) }
        if let backupKeyFile { return .key(try SecretFile.keyringKey(backupKeyFile)) }
        switch kind {
        case .key: throw Failure(status: 77, message: "the backup is sealed with a key: name its --backup-key-file")
        case .passphrase:
            guard let passphrase = try Prompt.passphrase("Passphrase of the backup: ") else {
                throw Failure(
                    status: 77, message: "the backup is sealed with a passphrase: name its --backup-passphrase-file")
            }
            return .passphrase(passphrase)
        }
    }
}
