public import ArgumentParser
internal import PushKeyring
public import PushSender
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

    @Argument(help: ArgumentHelp("A file with content JSON; - for standard input.", valueName: "content"))
    var file: String

    @Option(help: "The sender: a name in the keyring, with its secret key.")
    var from: String?

    @Option(help: "The device: a name in the keyring; with --unverified also push1…")
    var to: String

    @Option(help: "The app's bundle ID.")
    var topic: String

    @Option(name: .customLong("default"), help: "The text that travels in the clear.")
    var safeDefault = "You have a new message!"

    @Flag(help: "Seal to a key that no signed record vouches for.")
    var unverified = false

    @Flag(help: "Seal without a sender: proves nothing about who sealed.")
    var anonymous = false

    @Option(help: "How much an observer learns about the length: buckets, full or none.")
    var padding = PaddingPolicy.buckets

    @Option(help: "What happens to content that is too large: error or truncate (its body is cut).")
    var fit = FitPolicy.error

    @Option(help: "A new file for the payload; otherwise it is printed.")
    var output: String?

    @Flag(help: "Print one JSON object: the payload as text, and what goes into the request's headers.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func validate() throws {
        guard anonymous != (from != nil) else { throw ValidationError("Give either --from NAME or --anonymous.") }
        guard Topic(parsing: topic) != nil else {
            throw ValidationError("--topic is a bundle ID, such as com.example.app.")
        }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.newKeys("seal")
            let recipient = try recipient(in: keys)
            let sealer = try sealer(keys)
            let content = try content()
            let payload: SealedPayload
            do throws(SealError) {
                payload = try sealer.seal(content, toUnverified: recipient)
            } catch {
                throw Failure.input("\(error)\(hint(error))")
            }
            warn(of: content)
            if let output { try Output.write(payload.json, to: output) }
            if json { return try Output.json(payload.facts) }
            if output == nil { try Output.write(payload.json + [UInt8(ascii: "\n")], to: nil) }
        }
    }

    /// A name whose key a record vouches for, or, said by name, any key.
    private func recipient(in keys: Keyring) throws -> Recipient {
        if let recipient = try KeyText.read(to, Recipient.init(parsing:)) {
            guard unverified else {
                throw Failure.usage(
                    "nobody vouches for a key that is given as text: import its record, or say --unverified")
            }
            return recipient
        }
        let name = try keyring.name(to)
        let entry = try keys.authenticEntry(named: name)
        if let enrolled = entry.topic, enrolled.description != topic {
            throw Failure.input(
                "\(name) is enrolled for \(enrolled), and what is sealed for \(topic) would not open there")
        }
        return unverified ? try keys.unverifiedRecipient(named: name) : try keys.recipient(named: name).recipient
    }

    private func sealer(_ keys: Keyring) throws -> Sealer {
        guard let topic = Topic(parsing: topic) else { throw Failure.usage("--topic is no bundle ID") }
        let alert: WireAlert
        do { alert = try WireAlert(text: safeDefault) } catch { throw Failure.usage("--default: \(error)") }
        guard let from else { return Sealer(anonymousFor: topic, safeDefault: alert, padding: padding, fit: fit) }
        let sender = try keys.senderKey(named: keyring.name(from))
        // One message and the program ends: nothing to keep a context for.
        return Sealer(
            sender: sender, topic: topic, safeDefault: alert, padding: padding, fit: fit, contexts: .perMessage)
    }

    private func content() throws -> Content {
        let bytes = try Input.read(file, limit: Content.maximumUnsealedByteCount)
        do {
            return try Content(parsing: bytes, maximumByteCount: Content.maximumUnsealedByteCount)
        } catch {
            throw Failure.input("\(file): \(error)")
        }
    }

    /// Content that is sealed as it was asked for, and that no device will open.
    private func warn(of content: Content) {
        let now = Timestamp.now()
        if let sent = content.sent, now.seconds(since: sent) > 30 * 86_400 {
            Failure.report("warning: the content was sent more than 30 days ago, and no device will open it")
        }
        if let sent = content.sent, sent.seconds(since: now) > 26 * 3_600 {
            Failure.report("warning: the content is dated more than 26 hours ahead, and no device will open it yet")
        }
        if let expires = content.expires, now > expires {
            Failure.report("warning: the content has expired: devices open it for ten more minutes at most")
        }
    }

    private func hint(_ error: SealError) -> String {
        switch error {
        case .tooLarge where fit == .error: "; --fit truncate cuts the body"
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

extension PaddingPolicy: ExpressibleByArgument {}
extension FitPolicy: ExpressibleByArgument {}
