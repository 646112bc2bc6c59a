internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush authority`
struct AuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authority",
        abstract: "Vouches for an app's senders, offline, so that their keys can change without an update of the app.",
        discussion: """
            The authority's public key is built into the app. Its secret signs sender sets; keep it in a keyring of its
            own, sealed, on a machine that is not the server.

            Example:
              sealedpush authority init example-authority --keyring Offline
            """,
        subcommands: [Init.self, Sign.self, Show.self])

    func run() throws { throw ValidationError("Say what to do with the authority: init, sign or show.") }

    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes an authority's key and prints its public half.",
            discussion: "Example:\n  sealedpush authority init example-authority --keyring Offline")

        @Argument(help: "The new authority's name: \(KeyName.rule)")
        var name: KeyName

        @Flag(help: "Print one JSON object.")
        var json = false

        @OptionGroup var keyring: KeyringOptions

        func run() throws {
            try Failure.reporting {
                let keys = try keyring.newKeys("authority init")
                let key = try keys.generateAuthority(named: name).description
                if json { try Output.json(keys.entry(named: name).json()) } else { try Output.line(key) }
                try keyring.warnIfInTheClear(keys)
            }
        }
    }

    struct Sign: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Signs the set of an app's senders and prints it.",
            discussion: """
                Devices that take it believe these senders and no others. A name stands for its active keys, also a new
                one that is not used yet.

                Example:
                  sealedpush authority sign example-authority newsroom --topic com.example.app --keyring Offline
                """)

        @Argument(help: "The authority's name.")
        var name: KeyName

        @Argument(help: "The senders, newest first: names in the keyring, or pushsender1…")
        var senders: [KeyReference]

        @Option(help: "The app's bundle ID, such as com.example.app.")
        var topic: Topic

        @Option(help: "How long devices believe it, such as 400d (\(TimeSpan.help)).")
        var lifetime = TimeSpan(days: 400)

        @Flag(help: "Print one JSON object.")
        var json = false

        @OptionGroup var keyring: KeyringOptions

        func run() throws {
            try Failure.reporting {
                let keys = try keyring.keys("authority sign")
                var chosen: [Sender] = []
                for sender in try senders.flatMap({ try self.keys(of: $0, in: keys) }) where !chosen.contains(sender) {
                    chosen.append(sender)
                }
                guard (1...16).contains(chosen.count) else {
                    throw Failure.input("a sender set has 1 to 16 senders, and these names have \(chosen.count) in use")
                }
                let set = try keys.signSenderSet(
                    of: chosen, topic: topic, by: name, lifetime: lifetime.seconds)
                guard json else { return try Output.line(set.description) }
                try Output.json([
                    "record": .string(set.description), "counter": .integer(Int64(clamping: set.counter)),
                    "expires": .string(set.expires.iso8601),
                    "senders": .array(set.senders.map { .string($0.description) }),
                ])
            }
        }

        private func keys(of reference: KeyReference, in keys: Keyring) throws -> [Sender] {
            switch reference {
            case .text(let text): return [try text.parsed(Sender.init(parsing:))]
            case .name(let name):
                try keyring.warnIfInTheClear(keys)
                return try keys.activeSenders(named: name)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows an authority's public key, as an app has it built in, and its fingerprint.",
            discussion: "Example:\n  sealedpush authority show example-authority --keyring Offline")

        @Argument(help: "The authority's name.")
        var name: KeyName

        @Flag(help: "Print one JSON object.")
        var json = false

        @OptionGroup var keyring: KeyringOptions

        func run() throws {
            try Failure.reporting {
                let entry = try keyring.keys("authority show").authenticEntry(named: name)
                guard entry.kind == .authority else {
                    throw KeyringError.wrongKind(entry.name, expected: .authority)
                }
                if json { return try Output.json(entry.json()) }
                try Output.line(entry.key.description)
                try Output.line("fingerprint: \(entry.key.fingerprint)")
                try Output.line("words:       \(entry.key.fingerprint.words.joined(separator: " "))")
            }
        }
    }
}
