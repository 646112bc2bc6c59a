internal import ArgumentParser
internal import PushKeyring
internal import SealedPush
internal import _PushBase

/// `sealedpush open`
struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Opens a payload with a device's key and prints the content.",
        discussion: """
            Goes through the checks a device makes, but keeps no ledger: a replay opens again.

            Example:
              sealedpush open push.apns --device alice-phone --trust newsroom --topic com.example.app --keyring Keys

            A payload that does not open ends with status 65 and its reason code on standard error.
            """)

    @Argument(help: "A payload file; - for standard input.")
    var file: String

    @Option(help: "The device: a name in the keyring, with its secret key.")
    var device: String

    @Option(help: "A trusted sender: a name or pushsender1…, several times if need be; else the trust list counts.")
    var trust: [String] = []

    @Option(help: "The app's bundle ID.")
    var topic: String

    @Flag(help: "Open anonymous messages too.")
    var allowAnonymous = false

    @OptionGroup var keyring: KeyringOptions

    func validate() throws {
        guard Topic(parsing: topic) != nil else {
            throw ValidationError("--topic is a bundle ID, such as com.example.app.")
        }
    }

    func run() throws {
        try Failure.reporting {
            guard let topic = Topic(parsing: topic) else { throw Failure.usage("--topic is no bundle ID") }
            let keys = try keyring.keys("open")
            let name = try keyring.name(device)
            // Asked now, so that its errors are the keyring's own and no reason of a message.
            _ = try keys.deviceKeys(named: name)
            let trusted =
                trust.isEmpty
                ? try keys.trustList().trustedSenders(for: topic)
                : TrustedSenders(try trust.map { try keyring.sender($0, in: keys) })
            let opener = Opener(
                topic: topic, keys: KeyringStore(keys, device: name), trusting: trusted,
                allowsAnonymous: allowAnonymous)
            let bytes = try Input.read(file, limit: Input.maximumPayloadFileByteCount)
            let field = try Input.envelopeText(bytes, from: file)
            let envelope: Envelope
            do { envelope = try Envelope(parsing: field.text) } catch { throw Failure.input("malformed: \(error)") }
            let opened: OpenedContent
            do throws(OpenError) {
                opened = try opener.open(envelope, at: .now())
            } catch {
                throw Failure.input("\(error): \(error.hint)")
            }
            try Output.line(TerminalText.json(String(decoding: opened.content.json, as: UTF8.self)))
        }
    }
}

extension OpenError {
    /// What to do about it, for a person.
    var hint: String {
        switch self {
        case .malformed: "this is no envelope"
        case .unknownRecipient: "it was sealed for another device's key"
        case .locked: "unlock the device first"
        case .keysUnavailable: "the key store could not be read"
        case .unknownSender: "its sender is not trusted here: name the sender with --trust"
        case .anonymousNotAllowed: "it has no sender: --allow-anonymous opens it all the same"
        case .rejected: "it was altered, or sealed by a stranger, for another key, or for another topic"
        case .malformedContent: "it opened, and holds no well-formed content"
        case .topic: "it opened, and is meant for another app"
        case .keyRetired: "it opened under a retired key, and was sent too long after that key was retired"
        case .clock: "it was sent in the future: check both clocks"
        case .tooOld: "it was sent more than 30 days ago"
        case .expired: "it has expired"
        case .replayed: "it was seen before"
        case .ledgerUnavailable: "the ledger could not be written"
        case .outOfTime: "time ran out"
        }
    }
}
