public import ArgumentParser
internal import CommandSupport
internal import PushKeyring
public import PushSender
internal import SealedPush

/// For which app to seal, and how.
struct SealingOptions: ParsableArguments {
    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic

    @Option(name: .customLong("default"), help: .value("text", "The alert in clear."))
    var safeDefault = "You have a new message!"

    @Option(help: "How much of the length to hide.") var padding = PaddingPolicy.buckets

    @Option(help: "Too large:") var fit = FitPolicy.error

    @Option(help: .value("url", "Ask for receipts here: https, or http on this machine")) var receipts: ReceiptAddress?

    /// - Parameter name: the sender's; nil for an anonymous one.
    func sealer(
        from name: KeyName?, _ keys: Keyring, _ options: KeyringOptions, isContextPerMessage: Bool = false
    ) throws -> Sealer {
        let alert: WireAlert
        do { alert = try WireAlert(text: safeDefault) } catch { throw Failure.usage("--default: \(error)") }
        guard let name else { return Sealer(anonymousFor: topic, safeDefault: alert, padding: padding, fit: fit) }
        try options.willChoose(in: keys)
        return Sealer(
            sender: try keys.senderKey(named: name), topic: topic, safeDefault: alert, padding: padding, fit: fit,
            contexts: isContextPerMessage ? .perMessage : ContextLimits(), receipts: receipts)
    }
}

extension PaddingPolicy: ExpressibleByArgument {}
extension FitPolicy: ExpressibleByArgument {}

/// The content of a message, as a person names it.
enum ContentFile {
    static let help = ArgumentHelp("A file with content JSON; - for standard input.", valueName: "content")

    static func read(_ file: String) throws -> Content {
        let bytes = try Input.read(file, limit: Content.maximumUnsealedByteCount)
        do {
            return try Content(parsing: bytes, maximumByteCount: Content.maximumUnsealedByteCount)
        } catch {
            throw Failure.input("\(file): \(error)")
        }
    }

    /// Warns about content that is sealed as asked for, and that no device will open.
    static func warn(of content: Content) {
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
}
