internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring

/// `sealedpush keys rename`
struct RenameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Gives a key, with all that belongs to it, another name.",
        discussion: "Example:\n  sealedpush keys rename newsroom newsroom-2025 --keyring Keys")

    @Argument(help: "The name it has.")
    var name: KeyName

    @Argument(help: "The name it gets; one that no key has.")
    var other: KeyName

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys rename")
            try keys.rename(name, to: other)
            if json { return try Output.json(keys.entry(named: other).json()) }
            try Output.line("\(name) is \(other) now")
        }
    }
}
