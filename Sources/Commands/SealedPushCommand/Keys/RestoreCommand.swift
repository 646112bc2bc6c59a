internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring

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
            throw CommandFailure(
                status: 77, message: "the backup is sealed with a \(kind.rawValue); use its file with --backup-secret")
        }
        return .passphrase(passphrase)
    }
}
