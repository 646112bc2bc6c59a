internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushSender

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
        let bytes = try InputFile.read(file, limit: PayloadInput.maximumByteCount)
        let envelope = try Input.envelope(bytes, from: file).envelope
        let opened: OpenedContent
        do throws(OpenError) { opened = try opener.open(envelope, at: .now()) } catch {
            let diagnosis = try keys.diagnose(
                bytes, for: device, topic: topic, trusting: trusted, allowsAnonymous: allowAnonymous)
            throw CommandFailure.input(
                "\(error): \(DiagnosisWords(diagnosis: diagnosis, folder: keyring.keyring).failure)")
        }
        try Output.line(TerminalText.json(String(decoding: opened.content.json, as: UTF8.self)))
    }
}
