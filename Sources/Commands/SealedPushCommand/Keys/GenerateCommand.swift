import ArgumentParser
internal import CommandSupport
import PushKeyring
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
