internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys and what needs attention; never a secret, and without asking for one.",
        discussion: "Example:\n  sealedpush keys list --keyring Keys")

    @OptionGroup var keyring: KeyringOptions

    @Flag(help: "Print one JSON array.")
    var json = false

    func run() throws {
        try Failure.reporting {
            let (entries, errors) = try keyring.keys("keys list").entries()
            defer { for error in errors { Failure.report(error.shown) } }
            if json { try Output.json(.array(entries.map { $0.json() })) } else { try printTable(entries) }
            if let error = errors.first { throw ExitCode(error.exitStatus) }
        }
    }

    private func printTable(_ entries: [KeyringEntry]) throws {
        if entries.isEmpty { return try Output.line("There are no keys in \(keyring.keyring).") }
        let now = Timestamp.now()
        try Output.table(
            ["NAME", "KIND", "KEY ID", "STATE", "AGE", "SECRET", "NOTE"],
            entries.flatMap { entry in
                entry.keys.map { key in
                    [
                        entry.name.description, entry.kind.rawValue, key.key.keyID.description,
                        key.life.state.rawValue, TimeText.span(now.seconds(since: key.life.created)),
                        key.hasSecret ? "here" : entry.isOwn ? "gone" : "elsewhere",
                        entry.note(on: key, at: now) ?? "",
                    ]
                }
            })
    }
}
