internal import ArgumentParser
internal import CommandSupport
internal import PushCore
internal import PushKeyring
internal import SealedPush

/// `sealedpush open`
struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open a payload with a device's key and print the content.",
        usage: "sealedpush open [<options>] <file> --device <device> --topic <topic>",
        discussion: """
            It makes the checks that a device makes, but keeps no ledger: a replay opens again. If a payload does not \
            open, the exit status is 65, and the reason code is on standard error.

            Example:
              sealedpush open push.apns --device alice-phone --topic com.example.app
            """)

    @Argument(help: "A payload file; - for standard input.") var file: String

    @Option(help: "The device: a name in the keyring, with its secret key.") var device: KeyName

    @Option(help: "A trusted sender, in place of the trust list: a name or pushsender1…; may be repeated.")
    var trust: [KeyReference] = []

    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic

    @Flag(help: "Open anonymous messages, too.") var allowAnonymous = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("open")
            // Asked now, so that its errors are the keyring's own and no reason of a message.
            _ = try keys.deviceKeys(named: device)
            let trusted =
                trust.isEmpty
                ? try keys.trustList().trustedSenders(for: topic)
                : TrustedSenders(try trust.map { try keyring.sender($0, in: keys) })
            let opener = Opener(
                topic: topic, keys: KeyringStore(keys, device: device), trusting: trusted,
                allowsAnonymous: allowAnonymous)
            let bytes = try Input.read(file, limit: Input.maximumPayloadFileByteCount)
            let field = try Input.envelopeText(bytes, from: file)
            let envelope: Envelope
            do { envelope = try Envelope(parsing: field.text) } catch { throw Failure.input("malformed: \(error)") }
            let opened: OpenedContent
            do throws(OpenError) {
                opened = try opener.open(envelope, at: .now())
            } catch {
                throw Failure.input("\(error): \(error.words.sentence)")
            }
            try Output.line(TerminalText.json(String(decoding: opened.content.json, as: UTF8.self)))
        }
    }
}
