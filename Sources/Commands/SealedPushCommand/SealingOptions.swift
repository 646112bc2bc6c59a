import ArgumentParser
internal import CommandSupport
internal import PushKeyring
import PushSender

/// The app to seal for, and the options for sealing.
struct SealingOptions: ParsableArguments {
    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic

    @Option(name: .customLong("default"), help: .value("text", "Cleartext alert."))
    var safeDefault = "You have a new message!"

    @Option(help: "Pad to") var padding = PaddingPolicy.buckets

    @Option(help: "If too big:") var fit = FitPolicy.error

    @Option(help: .value("url", "Ask for receipts here: https, or http on this machine")) var receipts: ReceiptAddress?

    @Flag(help: "Refuse keys that aren't hybrid.") var requireHybrid = false

    /// - Parameter name: the sender's name; nil to seal anonymously.
    func sealer(from name: KeyName?, _ keys: Keyring, _ options: KeyringOptions) throws -> Sealer {
        let alert: WireAlert
        do { alert = try WireAlert(text: safeDefault) } catch { throw CommandFailure.usage("--default: \(error)") }
        guard let name else { return Sealer(anonymousFor: topic, safeDefault: alert, padding: padding, fit: fit) }
        try options.willChoose(in: keys)
        return Sealer(
            sender: try keys.senderKey(named: name), topic: topic, safeDefault: alert, padding: padding, fit: fit,
            receipts: receipts, requiresHybrid: requireHybrid)
    }
}
