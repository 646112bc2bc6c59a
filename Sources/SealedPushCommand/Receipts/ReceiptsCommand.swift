internal import ArgumentParser

/// `sealedpush receipts`
struct ReceiptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipts",
        abstract: "What devices say they have shown, and what did not open: how one learns that keys have gone wrong.",
        discussion: """
            Devices send receipts where messages ask for them: `send --receipts URL`.

            Examples:
              sealedpush receipts
              sealedpush receipts show --days 7 --json
              sealedpush receipts listen --from newsroom --port 8093
            """,
        subcommands: [ReceiptsShowCommand.self, ReceiptsListenCommand.self],
        defaultSubcommand: ReceiptsShowCommand.self)
}
