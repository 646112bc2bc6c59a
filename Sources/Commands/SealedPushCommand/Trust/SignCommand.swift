internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush trust sign`
struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign the set of an app's senders, with an authority's key, and print it.",
        discussion: """
            Devices that take it believe these senders and no others. A name stands for its active keys, also a new \
            one that is not used yet.

            Example:
              sealedpush trust sign example-authority newsroom --topic com.example.app --keyring Offline
            """)

    @Argument(help: "The authority's name.")
    var name: KeyName

    @Argument(help: "The senders, newest first: names in the keyring, or pushsender1…")
    var senders: [KeyReference]

    @Option(help: "The app's bundle ID, such as com.example.app.")
    var topic: Topic

    @Option(help: "How long devices believe it, such as 400d (\(TimeSpan.help)).")
    var lifetime = TimeSpan(days: 400)

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("trust sign")
            var chosen: [SenderPublicKey] = []
            for sender in try senders.flatMap({ try self.keys(of: $0, in: keys) }) where !chosen.contains(sender) {
                chosen.append(sender)
            }
            guard (1...16).contains(chosen.count) else {
                throw Failure.input("a sender set has 1 to 16 senders, and these names have \(chosen.count) in use")
            }
            let set = try keys.signSenderSet(
                of: chosen, topic: topic, by: name, lifetime: lifetime.seconds)
            try Output.line(set.description)
        }
    }

    private func keys(of reference: KeyReference, in keys: Keyring) throws -> [SenderPublicKey] {
        switch reference {
        case .text(let text): return [try text.parsed(SenderPublicKey.init(parsing:))]
        case .name(let name):
            try keyring.warnIfInTheClear(keys)
            return try keys.activeSenders(named: name)
        }
    }
}
