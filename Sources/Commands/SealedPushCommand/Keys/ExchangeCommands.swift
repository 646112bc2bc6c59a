public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
public import PushKeyring
internal import SealedPush

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Create a key and print its public half.",
        usage: "sealedpush keys generate [<options>] <kind> <name>",
        discussion: """
            Examples:
              sealedpush keys generate sender newsroom --keyring Keys
              sealedpush keys generate device alice-phone --topic com.example.app \\
                --keyring Phone

            A device with a topic also gets an enrollment key and a signed record; `keys export --record` prints the \
            record. Keep an authority in a separate, sealed keyring on a machine other than the server.
            """)

    @Argument(help: "device (opens messages), sender (seals them), or authority (signs an app's senders).")
    var kind: AnyPublicKey.Kind

    @Argument(help: "The new key's name: \(KeyName.rule)") var name: KeyName

    @Option(help: "The app's bundle ID, such as com.example.app; for a device that signs records.") var topic: Topic?

    @Flag(help: "For a device: create a hybrid key, with ML-KEM-768.") var hybrid = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard topic == nil || kind == .device else { throw ValidationError("--topic applies only to devices.") }
        guard !hybrid || kind == .device else { throw ValidationError("--hybrid applies only to devices.") }
    }

    func run() throws {
        let keys = try keyring.newKeys("keys generate")
        let key =
            switch kind {
            case .device:
                try keys.generateDevice(named: name, topic: topic, policy: hybrid ? .hybrid : .classical).description
            case .sender: try keys.generateSender(named: name).description
            case .authority: try keys.generateAuthority(named: name).description
            }
        try Output.line(key)
        try keyring.warnIfInTheClear(keys)
    }
}

extension AnyPublicKey.Kind: ExpressibleByArgument {}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add someone else's public key or device record, or your own secret from a file.",
        usage: "sealedpush keys import [<options>] <name> [<key>]",
        discussion: """
            Examples:
              sealedpush keys import bob-phone pushrecord.AQE... --keyring Keys
              sealedpush keys import newsroom pushsender1... --keyring Keys
              sealedpush keys import newsroom --secret-file - --keyring Keys < secret.txt

            The first record under a name pins the device's enrollment key. Accept it only through the app's own login, \
            or compare fingerprints on both ends (`keys show`). Later records must be newer and signed by that key.
            """)

    @Argument(help: "The name in this keyring: \(KeyName.rule)") var name: KeyName

    @Argument(help: .value("key", "push1…, pushpq1…, pushsender1…, pushauthority1…, or pushrecord.…")) var text: String?

    @Option(help: "A file with a secret key's text; - for standard input.") var secretFile: String?

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard (text == nil) != (secretFile == nil) else { throw ValidationError("Use either a key or --secret-file.") }
    }

    func run() throws {
        let keys = try keyring.newKeys("keys import")
        let text = text?.trimmingCharacters(in: .whitespacesAndNewlines)
        if let secretFile {
            try importSecret(SecretFile(secretFile, from: "--secret-file"), as: name, keys)
        } else if let text, text.hasPrefix("pushrecord") {
            try keys.add(DeviceRecord(parsing: text), named: name)
        } else if let text {
            let key: AnyPublicKey
            do { key = try AnyPublicKey(parsing: text) } catch { throw Failure.input("not a public key: \(error)") }
            try keys.add(key, named: name)
        }
        let entry = try keys.entry(named: name)
        try Output.line("\(name): \(entry.kind.rawValue) \(entry.key.keyID)")
    }

    private func importSecret(_ file: SecretFile, as name: KeyName, _ keys: Keyring) throws {
        var bytes = try file.read(limit: 4_096)
        defer { wipe(&bytes) }
        // A single allocation, so that wiping it wipes the whole secret.
        var text = [UInt8](bytes.trimmingSpace)
        defer { wipe(&text) }
        guard try keys.add(secretText: text, named: name) != nil
        else { throw Failure.input("\(file) doesn't contain the secret key of a device, sender, or authority") }
        try keyring.warnIfInTheClear(keys)
    }
}

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a key's public half, a device's signed record, or, with --secret, a secret.",
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

    @Flag(help: "Print the secret half; anyone who reads it has the key. The audit log records it.") var secret = false

    @Flag(help: "Don't ask for confirmation.") var yes = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard !(record && secret) else { throw ValidationError("Use either --record or --secret.") }
    }

    func run() throws {
        let keys = try keyring.keys("keys export")
        if secret { return try exportSecret(name, keys) }
        let entry = try keys.authenticEntry(named: name)
        guard record else {
            let current = entry.current
            guard current.life.state == .active else { throw KeyringError.notUsable(name, current.life.state) }
            if entry.isOwn, current.life.confirmed == nil {
                Failure.report(
                    "warning: this key of \(name) is not in use yet; confirm it with `keys rotate --confirm`")
            }
            return try Output.line(entry.key.description)
        }
        guard let record = entry.record
        else { throw Failure.input("\(name) has no record; only a device generated with --topic signs records") }
        try Output.line(record.description)
    }

    private func exportSecret(_ name: KeyName, _ keys: Keyring) throws {
        try Prompt.confirm("The secret of \(name) will be printed; anyone who reads it has the key.", isConfirmed: yes)
        var bytes = try keys.withSecretText(of: name) { [UInt8]($0) + [UInt8(ascii: "\n")] }
        defer { wipe(&bytes) }
        try OutputFile.print(bytes)
    }
}
