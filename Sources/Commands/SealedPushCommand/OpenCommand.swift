internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushSender
internal import SealedPush

struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open a payload with a device's key and print the content.",
        usage: "sealedpush open [<options>] <file> --device <device> --topic <topic>",
        discussion: """
            Performs the same checks as a device, but keeps no ledger, so a replay opens again. If a payload doesn't open, \
            the exit status is 65 and standard error shows the reason code.

            Example:
              sealedpush open push.apns --device alice-phone --topic com.example.app
            """)

    @Argument(help: "A payload file; - for standard input.") var file: String

    @Option(help: "The device: a name in the keyring that has a secret key.") var device: KeyName

    @Option(help: "A sender to trust instead of the trust list: a name or pushsender1…; can be repeated.")
    var trust: [KeyReference] = []

    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic

    @Flag(help: "Open anonymous messages too.") var allowAnonymous = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        let keys = try keyring.keys("open")
        let deviceKeys = try keys.deviceKeys(named: device)
        let list = try keys.trustList()
        let trusted = try keyring.trusted(trust, in: keys) ?? list.trustedSenders(for: topic)
        let opener = Opener(
            topic: topic, keys: InMemoryKeyStore(deviceKeys, senderSet: list.senderSet(for: topic)), trusting: trusted,
            allowsAnonymous: allowAnonymous)
        let bytes = try InputFile.read(file, limit: Input.maximumPayloadFileByteCount)
        let envelope = try Input.envelope(bytes, from: file).envelope
        let opened: OpenedContent
        do throws(OpenError) { opened = try opener.open(envelope, at: .now()) } catch {
            let diagnosis = try keys.diagnose(
                bytes, for: device, topic: topic, trusting: trusted, allowsAnonymous: allowAnonymous)
            throw Failure.input(
                "\(error): \(DiagnosisWords(diagnosis: diagnosis, folder: keyring.keyring).failure)")
        }
        try Output.line(TerminalText.json(String(decoding: opened.content.json, as: UTF8.self)))
    }
}

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what anyone can see in a payload; no key needed.",
        discussion: "Example:\n  sealedpush inspect push.apns --keyring Keys")

    @Argument(help: "A payload file, or a file with just an envelope's text; - for standard input.") var file: String

    @Option(help: .value("folder", "A keyring to look up the payload's hints in.")) var keyring: String?

    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let bytes = try InputFile.read(file, limit: Input.maximumPayloadFileByteCount)
        let (envelope, payload) = try Input.envelope(bytes, from: file)
        let matched = try keyring.map { folder in
            try KeyringOptions.mustBeThere(folder)
            return try Keyring(folder: URL(filePath: folder), command: "inspect").keys(matching: envelope)
        }
        let start = payload.flatMap { StartFault(payload: $0.members) }
        let (plaintext, buckets) = (envelope.plaintextByteCount, envelope.suite.bucketByteCounts)
        let facts: [(name: String, label: String, value: JSONValue)] = [
            ("suite", "suite", .text(envelope.suite.name)),
            ("recipientHint", "recipient hint", .text(envelope.recipientHint)),
            ("device", "its device", .text(matched?.device)),
            ("recipientKeyID", "its key ID", .text(matched?.recipient?.keyID)),
            ("senderHint", "sender hint", .text(envelope.senderHint)),
            ("sender", "its sender", .text(matched?.senderName)),
            ("senderKeyID", "its key ID", .text(matched?.sender?.keyID)),
            ("number", "number", .text(envelope.number.map(Hex.encode))),
            ("envelopeBytes", "envelope, bytes", .count(envelope.bytes.count)),
            ("plaintextBytes", "plaintext, bytes", .count(plaintext)),
            // The bucket that this many bytes fill exactly, if there is one.
            ("paddingBucket", "padding bucket", .count(buckets.contains(plaintext) ? plaintext : nil)),
            ("payloadBytes", "payload, bytes", .count(payload?.byteCount)),
            ("bytesLeft", "bytes left", .count(payload.map { SizePlan.maximumPayloadByteCount - $0.byteCount })),
            ("startFault", "on an iPhone", start.map { .string($0.description) } ?? .null),
        ]
        if json { return try Output.json(.object(Dictionary(uniqueKeysWithValues: facts.map { ($0.name, $0.value) }))) }
        for fact in facts {
            let label = TerminalWidth.padded("\(fact.label):", to: 22)
            switch fact.value {
            case .string(let text): try Output.line(label + text)
            case .integer(let number): try Output.line("\(label)\(number)")
            case .null, .bool, .number, .array, .object: continue
            }
        }
    }
}
