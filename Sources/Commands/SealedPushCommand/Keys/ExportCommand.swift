import ArgumentParser
internal import CommandSupport
internal import PushCore
import PushKeyring
internal import PushSender
internal import SealedPush

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a key's public half, a device's signed record or state, or a secret.",
        usage: "sealedpush keys export [<options>] <name>",
        discussion: """
            Examples:
              sealedpush keys export newsroom --keyring Keys
              sealedpush keys export alice-phone --record --keyring Phone
              sealedpush keys export newsroom --secret --yes --keyring Keys |
                ssh server install-secret

            Exporting from a sealed keyring requires its secret, to detect edits by other programs.
            """)

    @Argument(help: "The key's name.") var name: KeyName

    @Flag(help: "Print the device's newest signed record.") var record = false

    @Flag(help: "Print the device as a server stores it: its pinned key, its record, and its proven keys.") var state =
        false

    @Flag(help: "Print the secret half; anyone who reads it has the key. The audit log records it.") var secret = false

    @Flag(help: "Don't ask for confirmation.") var yes = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard [record, state, secret].count(where: { $0 }) <= 1
        else { throw ValidationError("Use only one of --record, --state, and --secret.") }
    }

    func run() throws {
        let keys = try keyring.keys("keys export")
        if secret { return try exportSecret(name, keys) }
        if state { return try Output.line(keys.enrolledDevice(named: name).state) }
        let entry = try keys.authenticEntry(named: name)
        guard record else {
            let current = entry.current
            guard current.life.state == .active else { throw KeyringError.notUsable(name, current.life.state) }
            if entry.isOwn, current.life.confirmed == nil {
                CommandFailure.report(
                    "warning: this key of \(name) is not in use yet; confirm it with `keys rotate --confirm`")
            }
            return try Output.line(entry.key.description)
        }
        guard let record = entry.record
        else { throw CommandFailure.input("\(name) has no record; only a device generated with --topic signs records") }
        try Output.line(record.description)
    }

    private func exportSecret(_ name: KeyName, _ keys: Keyring) throws {
        try Prompt.confirm("The secret of \(name) will be printed; anyone who reads it has the key.", isConfirmed: yes)
        var bytes = try keys.withSecretText(of: name) { [UInt8]($0) + [UInt8(ascii: "\n")] }
        defer { wipe(&bytes) }
        try OutputFile.print(bytes)
    }
}
