internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys export`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Prints a key's public half, a device's signed record, or, asked for by name, a secret.",
        discussion: """
            Examples:
              sealedpush keys export newsroom --keyring Keys
              sealedpush keys export alice-phone --record --keyring Phone
              sealedpush keys export newsroom --secret --yes --keyring Keys | ssh server install-secret
            """)

    @Argument(help: "The key's name.")
    var name: KeyName

    @Flag(help: "Print the device's newest signed record.")
    var record = false

    @Flag(help: "Print the secret half: whoever reads it has the key. Noted in the audit log.")
    var secret = false

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var keyring: KeyringOptions

    func validate() throws {
        guard !(record && secret) else { throw ValidationError("Give either --record or --secret.") }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys export")
            if secret { return try exportSecret(name, keys) }
            let entry = try keys.entry(named: name)
            guard record else {
                let current = entry.current
                guard current.life.state == .active else { throw KeyringError.notUsable(name, current.life.state) }
                if entry.isOwn, current.life.confirmed == nil {
                    Failure.report("warning: this key of \(name) waits to be used: keys confirm")
                }
                return try Output.line(entry.key.description)
            }
            guard let record = entry.record else {
                throw Failure.input("\(name) has no record: only a device that was generated with --topic signs them")
            }
            try Output.line(record.description)
        }
    }

    private func exportSecret(_ name: KeyName, _ keys: Keyring) throws {
        try Prompt.confirm("The secret of \(name) will be printed: whoever reads it has the key.", isConfirmed: yes)
        var bytes = try keys.withSecretText(of: name) { [UInt8]($0) + [UInt8(ascii: "\n")] }
        defer { wipeSecret(&bytes) }
        try Output.write(bytes, to: nil)
    }
}
