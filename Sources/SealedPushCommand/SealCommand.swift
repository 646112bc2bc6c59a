internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushKeyring
internal import PushSender
internal import SealedPush

/// `sealedpush seal`
struct SealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Seals content for one device and prints the payload.",
        discussion: """
            CONTENT is JSON such as {"alert":{"title":"Nina","body":"Lunch at one?"}}; `id`, `topic` and `sent` are filled
            in where it has none (Docs/Specification.md, section 4).

            Examples:
              sealedpush seal content.json --from newsroom --to alice-phone --topic com.example.app --keyring Keys
              sealedpush seal - --anonymous --unverified --to push1... --topic com.example.app --output push.apns < content.json
            """)

    @Argument(help: ContentFile.help)
    var file: String

    @Option(help: "The device: a name in the keyring; with --unverified also push1…")
    var to: KeyReference

    @Flag(help: "Seal to a key that no signed record vouches for.")
    var unverified = false

    @OptionGroup var sealing: SealingOptions

    @Option(help: "A new file for the payload; otherwise it is printed.")
    var output: String?

    @Option(
        help: """
            Where content that is too large for one push will lie, encrypted; its first part goes with the push. \
            \(FileAddress.rule)
            """)
    var overflow: FileAddress?

    @Option(help: "With --overflow: a new file for what is to be stored there; made only where it is needed.")
    var overflowOutput: String?

    @Flag(help: "Print one JSON object: the payload as text, and what goes into the request's headers.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func validate() throws {
        guard (overflow == nil) == (overflowOutput == nil) else {
            throw ValidationError("--overflow and --overflow-output go together.")
        }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.newKeys("seal")
            let recipient = try recipient(in: keys)
            // One message and the program ends: nothing to keep a context for.
            let sealer = try sealing.sealer(keys, keyring, contexts: .perMessage)
            let content = try moved(ContentFile.read(file), sealer)
            let payload: SealedPayload
            do throws(SealError) {
                payload = try sealer.seal(content, toUnverified: recipient)
            } catch {
                throw Failure.input("\(error)\(hint(error))")
            }
            ContentFile.warn(of: content)
            if let output { try Output.write(payload.json, to: output) }
            if json { return try Output.json(payload.facts) }
            if output == nil { try Output.write(payload.json + [UInt8(ascii: "\n")], to: nil) }
        }
    }

    /// The content, or its first part where it is too large and the rest may lie elsewhere.
    private func moved(_ content: Content, _ sealer: Sealer) throws -> Content {
        guard let overflowOutput, let url = overflow?.url else { return content }
        let moved: MovedContent?
        do throws(SealError) { moved = try sealer.moveOverflow(of: content, at: url) } catch {
            throw Failure.input("\(error)")
        }
        guard let moved else { return content }
        try Output.write(moved.file, to: overflowOutput)
        Failure.report(
            """
            store \(overflowOutput) (\(Progress.number(moved.file.count)) bytes) at \(url.absoluteString) before you send: \
            the push carries the text's beginning
            """)
        return moved.content
    }

    /// A name whose key a record vouches for, or, said by name, any key.
    private func recipient(in keys: Keyring) throws -> Recipient {
        let name: KeyName
        switch to {
        case .text(let text):
            let recipient = try text.parsed(Recipient.init(parsing:))
            guard unverified else {
                throw Failure.usage(
                    "nobody vouches for a key that is given as text: import its record, or say --unverified")
            }
            return recipient
        case .name(let given): name = given
        }
        try keyring.willChoose(in: keys)
        let entry = try keys.authenticEntry(named: name)
        if let enrolled = entry.topic, enrolled != sealing.topic {
            throw Failure.input(
                "\(name) is enrolled for \(enrolled), and what is sealed for \(sealing.topic) would not open there")
        }
        return unverified ? try keys.unverifiedRecipient(named: name) : try keys.recipient(named: name).recipient
    }

    private func hint(_ error: SealError) -> String {
        switch error {
        case .tooLarge where sealing.fit == .error: "; --fit truncate cuts the body, --overflow moves it into a file"
        case .tooLarge, .content, .otherTopic: ""
        }
    }
}

extension SealedPayload {
    /// Specification 2.6: what a request to Apple is made of.
    fileprivate var facts: JSONValue {
        [
            "payload": .string(String(decoding: json, as: UTF8.self)), "payloadBytes": .integer(Int64(json.count)),
            "topic": .string(topic.description), "apnsID": .string(apnsID), "collapseID": .string(collapseID),
            "id": .string(messageID.description), "recipient": .string(recipient.description),
            "expires": expires.map { .integer($0.secondsSince1970) } ?? .null,
        ]
    }
}
