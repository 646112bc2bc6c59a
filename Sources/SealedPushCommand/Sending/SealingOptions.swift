public import ArgumentParser
internal import CommandSupport
internal import PushKeyring
public import PushSender
internal import SealedPush

/// Who seals, for which app, and how.
struct SealingOptions: ParsableArguments {
    @Option(help: "The sender: a name in the keyring, with its secret key.")
    var from: KeyName?

    @Flag(help: "Seal without a sender: proves nothing about who sealed.")
    var anonymous = false

    @Option(help: "The app's bundle ID, such as com.example.app.")
    var topic: Topic

    @Option(name: .customLong("default"), help: "The text that travels in the clear.")
    var safeDefault = "You have a new message!"

    @Option(help: "How much an observer learns about the length: buckets, full or none.")
    var padding = PaddingPolicy.buckets

    @Option(help: "What happens to content that is too large: error or truncate (its body is cut).")
    var fit = FitPolicy.error

    @Option(
        help: """
            Ask devices for receipts, which they post there: an https URL of at most 256 bytes; http only to localhost, \
            127.0.0.1 or [::1], for the simulator.
            """)
    var receipts: ReceiptAddress?

    @Flag(
        help: """
            Make a context for each message, about 100 µs more: for machines that are cloned, or started from a \
            snapshot, while this runs.
            """)
    var contextPerMessage = false

    func validate() throws {
        guard anonymous != (from != nil) else { throw ValidationError("Give either --from NAME or --anonymous.") }
        guard receipts == nil || !anonymous else {
            throw ValidationError(
                "--receipts needs a sender: no device sends a receipt for what anybody may have sealed.")
        }
    }

    func sealer(_ keys: Keyring, _ options: KeyringOptions, forOneMessage: Bool = false) throws -> Sealer {
        let alert: WireAlert
        do { alert = try WireAlert(text: safeDefault) } catch { throw Failure.usage("--default: \(error)") }
        guard let from else { return Sealer(anonymousFor: topic, safeDefault: alert, padding: padding, fit: fit) }
        try options.willChoose(in: keys)
        return Sealer(
            sender: try keys.senderKey(named: from), topic: topic, safeDefault: alert, padding: padding, fit: fit,
            contexts: contextPerMessage || forOneMessage ? .perMessage : ContextLimits(), receipts: receipts)
    }
}

extension PaddingPolicy: ExpressibleByArgument {}
extension FitPolicy: ExpressibleByArgument {}
