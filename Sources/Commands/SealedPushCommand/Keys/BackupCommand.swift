internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring

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
