import PushSender

/// The same work through the public interface, from content to finished payload and back.
final class SealedPushWork {
    private let sender = SenderPrivateKey()
    private let phone = DevicePrivateKey()
    private let sealer: Sealer
    private let opener: Opener
    private let content: Content
    private let contentJSON: [UInt8]
    private let newRecipients: [DevicePublicKey]
    private var nextRecipient = 0
    private let received: Envelope
    /// A test key from Tests/Vectors/Hybrid/good-plain.txt.
    private static let hybridIdentity = "PUSH-PQ-SECRET-KEY-12SRK4G8FG3CJXSN8P4YEGTK78KNDDSGATQ5W82SG2NTN9HJ59THS3Z25S0"
    private let hybridPhone: DevicePublicKey
    /// Creates a context for each message.
    private let forgetful: Sealer
    private let hybridOpener: Opener
    private let receivedHybrid: Envelope

    init() throws {
        let topic: Topic = "com.example.app"
        sealer = Sealer(sender: sender, topic: topic, safeDefault: "You have a new message!")
        opener = Opener(
            topic: topic, keys: InMemoryKeyStore([DeviceKey(phone, created: .now())]), trusting: [sender.sender])
        content = Self.content(byteCount: 256)
        var whole = content
        whole.id = .random()
        whole.topic = topic
        whole.sent = .now()
        contentJSON = whole.json
        precondition(contentJSON.count == 256)
        newRecipients = (0..<4_000).map { _ in DevicePrivateKey().recipient }
        guard let payload = try? sealer.seal(content, toUnverified: phone.recipient) else {
            preconditionFailure("sealing failed")
        }
        received = payload.envelope
        let identity = try Array(Self.hybridIdentity.utf8).withUnsafeBytes { try DevicePrivateKey(parsing: $0) }
        hybridPhone = identity.recipient
        forgetful = Sealer(
            sender: sender, topic: topic, safeDefault: "You have a new message!",
            contexts: ContextLimits(messageCount: 1))
        hybridOpener = Opener(
            topic: topic, keys: InMemoryKeyStore([DeviceKey(identity, created: .now())]), trusting: [sender.sender])
        receivedHybrid = try sealer.seal(content, toUnverified: hybridPhone).envelope
    }

    func sealForSeenHybrid() { precondition((try? sealer.seal(content, toUnverified: hybridPhone)) != nil) }

    func sealForNewHybrid() { precondition((try? forgetful.seal(content, toUnverified: hybridPhone)) != nil) }

    func openHybrid() { open(receivedHybrid, hybridOpener) }

    func sealForSeen() { precondition((try? sealer.seal(content, toUnverified: phone.recipient)) != nil) }

    /// Seals to each recipient for the first time.
    func sealForNew() {
        precondition(nextRecipient < newRecipients.count, "there are more rounds than new recipients")
        precondition((try? sealer.seal(content, toUnverified: newRecipients[nextRecipient])) != nil)
        nextRecipient += 1
    }

    /// Opens an envelope's text, as the extension receives it, and checks the content.
    func open() { open(received, opener) }

    private func open(_ received: Envelope, _ opener: Opener) {
        guard let envelope = try? Envelope(parsing: received.text), (try? opener.open(envelope, at: .now())) != nil
        else { preconditionFailure("opening failed") }
    }

    func writeContent() { precondition(!content.json.isEmpty) }

    func readContent() { precondition((try? Content(parsing: contentJSON)) != nil) }

    /// Returns content whose JSON, with id, topic, and sent, has this many bytes.
    private static func content(byteCount: Int) -> Content {
        var content = Content(title: "Nina", body: "")
        content.id = .random()
        content.topic = "com.example.app"
        content.sent = .now()
        content.alert.body = String(repeating: "b", count: byteCount - content.json.count)
        content.id = nil
        content.topic = nil
        content.sent = nil
        return content
    }
}
