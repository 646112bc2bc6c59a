internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys generate`
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Makes a key and prints its public half.",
        discussion: """
            Examples:
              sealedpush keys generate sender newsroom --keyring Keys
              sealedpush keys generate device alice-phone --topic com.example.app --keyring Phone

            A device with a topic gets an enrolment key too, and a signed record: `keys export --record` prints it.
            """)

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case device
        case sender
    }

    @Argument(help: "device (opens messages) or sender (seals them).")
    var kind: Kind

    @Argument(help: "The new key's name.")
    var name: KeyName

    @Option(help: "The app's bundle ID, such as com.example.app, for a device that signs records.")
    var topic: Topic?

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func validate() throws {
        guard topic == nil || kind == .device else { throw ValidationError("--topic is for devices.") }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.newKeys("keys generate")
            switch kind {
            case .device: try keys.generateDevice(named: name, topic: topic)
            case .sender: try keys.generateSender(named: name)
            }
            let entry = try keys.entry(named: name)
            if json { try Output.json(entry.json()) } else { try Output.line(entry.key.description) }
            try keyring.warnIfInTheClear(keys)
        }
    }
}
