internal import ArgumentParser

/// `sealedpush keys`
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Makes keys, exchanges them, and looks after them for as long as they live.",
        discussion: """
            Docs/KeyManagement.md says what to do when: first set-up, monthly rotation, theft, loss, moving.

            Example:
              sealedpush keys generate sender newsroom --keyring Keys
              sealedpush keys rotate --older-than 30d --keyring Keys
            """,
        subcommands: [
            GenerateCommand.self, ListCommand.self, ShowCommand.self, ExportCommand.self, ImportCommand.self,
            RenameCommand.self, RotateCommand.self, ConfirmCommand.self, RetireCommand.self, RevokeCommand.self,
            EraseCommand.self, PassphraseCommand.self, BackupCommand.self, RestoreCommand.self,
            FingerprintCommand.self, KeysDoctorCommand.self,
        ])

    func run() throws { throw ValidationError("Say what to do with keys: `sealedpush keys --help` lists it.") }
}
