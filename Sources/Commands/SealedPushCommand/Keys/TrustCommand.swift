internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

struct TrustCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Choose the senders that a keyring's devices trust, per app.",
        discussion: """
            Trust senders one by one, or trust an authority, whose signed sender sets then take their place.

            Example:
              sealedpush trust add newsroom --topic com.example.app --keyring Phone
            """,
        subcommands: [Add.self, List.self, Remove.self, SignCommand.self])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Trust a sender, pin an authority, or add an authority's newer sender set.",
            usage: "sealedpush trust add [<options>] <whom> --topic <topic>",
            discussion: """
                Examples:
                  sealedpush trust add pushauthority1... --topic com.example.app \\
                    --keyring Phone
                  sealedpush trust add pushrecord.AgE... --topic com.example.app --keyring Phone
                """)

        @OptionGroup var options: TrustOptions

        func run() throws {
            let (keys, trusted) = try options.chosen("trust add")
            let topic = options.topic
            let isNew = try keys.trust(trusted, for: topic)
            var outcome = isNew ? "trusted for \(topic)" : "already trusted for \(topic)"
            if case .sender(let sender) = trusted,
                try !keys.trustList().senders(for: topic, at: .now()).contains(sender)
            {
                outcome = "in the list for \(topic), but not trusted, because a sender set replaces it"
            }
            try Output.line("\(trusted.words): \(outcome)")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop trusting a sender or an authority.",
            usage: "sealedpush trust remove [<options>] <whom> --topic <topic>",
            discussion: "Example:\n  sealedpush trust remove newsroom --topic com.example.app --keyring Phone")

        @OptionGroup var options: TrustOptions

        func run() throws {
            let (keys, trusted) = try options.chosen("trust remove")
            guard try keys.distrust(trusted, for: options.topic)
            else { throw CommandFailure.input("it is not in the trust list for \(options.topic)") }
            try Output.line("\(trusted.words): no longer trusted for \(options.topic)")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the trusted senders.", usage: "sealedpush trust list [<options>]",
            discussion: "Example:\n  sealedpush trust list --keyring Phone --json")

        @Flag(help: "Print one JSON array.") var json = false

        @OptionGroup(title: "Keyring") var keyring: KeyringOptions

        func run() throws {
            let list = try keyring.keys("trust list").trustList()
            let entries = list.entries
            if json { return try Output.json(.array(entries.map(\.json))) }
            if entries.isEmpty { return try Output.line("No senders are trusted.") }
            try Output.table(
                ["TOPIC", "KIND", "KEY ID", "SINCE", "NOTE"],
                entries.map { entry in
                    [
                        entry.topic.description, entry.trusted.kind,
                        entry.trusted.keyIDs.map(\.description).joined(separator: " "),
                        TimeText.day(entry.added), entry.note(in: list, at: .now()),
                    ]
                })
        }
    }
}

/// The options of `trust add` and `trust remove`.
struct TrustOptions: ParsableArguments {
    @Argument(help: .value("whom", "A name, pushsender1…, pushauthority1…, or pushrecord.…")) var whom: String

    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func chosen(_ command: String) throws -> (Keyring, TrustList.Trusted) {
        let keys = try keyring.newKeys(command)
        let trusted = try trusted(in: keys)
        if case .senderSet = trusted, try keys.trustList().trustedSenders(for: topic).authorities.isEmpty {
            throw CommandFailure.input(
                "no authority is pinned for \(topic), so no sender set is trusted; first run `sealedpush trust add pushauthority1…`"
            )
        }
        return (keys, trusted)
    }

    private func trusted(in keys: Keyring) throws -> TrustList.Trusted {
        if whom.hasPrefix("pushrecord.") { return .senderSet(try SenderSet(parsing: whom)) }
        switch try keyring.publicKey(KeyReference(reading: whom), in: keys) {
        case .sender(let sender): return .sender(sender)
        case .authority(let authority): return .authority(authority)
        case .device: throw CommandFailure.input("a device's key can't be trusted; only senders and authorities can")
        }
    }
}

extension TrustList.Trusted {
    var kind: String {
        switch self {
        case .sender: "sender"
        case .authority: "authority"
        case .senderSet: "sender set"
        }
    }

    var keyIDs: [KeyID] {
        switch self {
        case .sender(let sender): [sender.keyID]
        case .authority(let authority): [authority.keyID]
        case .senderSet(let set): set.senders.map(\.keyID)
        }
    }

    /// `sender 21cd0f59`
    fileprivate var words: String { ([kind] + keyIDs.map(\.description)).joined(separator: " ") }
}

extension TrustList.Entry {
    func note(in list: TrustList, at now: Timestamp) -> String {
        guard case .senderSet(let set) = trusted else { return "" }
        guard set == list.senderSet(for: topic) else {
            return "number \(set.counter); another authority's newer set replaces it"
        }
        return now > set.expires
            ? "expired on \(TimeText.day(set.expires)); no sender is trusted until a newer set arrives"
            : "number \(set.counter), until \(TimeText.day(set.expires))"
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "topic": .text(topic), "kind": .string(trusted.kind), "added": .string(added.iso8601),
            "keyIDs": .array(trusted.keyIDs.map { .text($0) }),
        ]
        switch trusted {
        case .sender(let sender): members["publicKey"] = .text(sender)
        case .authority(let authority): members["publicKey"] = .text(authority)
        case .senderSet(let set):
            members["record"] = .text(set)
            members["counter"] = .integer(Int64(clamping: set.counter))
            members["expires"] = .string(set.expires.iso8601)
        }
        return .object(members)
    }
}

struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign the set of an app's senders with an authority's key, and print it.",
        usage: "sealedpush trust sign [<options>] <name> <senders> ... --topic <topic>",
        discussion: """
            Devices that accept the set trust only these senders. A name stands for its active keys, including a new \
            one that isn't in use yet.

            Example:
              sealedpush trust sign example-authority newsroom --topic com.example.app \\
                --keyring Offline
            """)

    @Argument(help: "The authority's name.") var name: KeyName

    @Argument(help: "The senders, newest first: names in the keyring or pushsender1…") var senders: [KeyReference]

    @Option(help: "The app's bundle ID, such as com.example.app.") var topic: Topic

    @Option(help: "How long devices trust it, such as 400d (\(TimeSpan.help)).") var lifetime = TimeSpan(days: 400)

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        let keys = try keyring.keys("trust sign")
        var chosen: [SenderPublicKey] = []
        for sender in try senders.flatMap({ try self.keys(of: $0, in: keys) }) where !chosen.contains(sender) {
            chosen.append(sender)
        }
        let allowed = ListForm.keyCounts
        guard allowed.contains(chosen.count)
        else {
            throw CommandFailure.input(
                "a sender set must have \(allowed.lowerBound) to \(allowed.upperBound) senders, but these names have \(chosen.count) active keys"
            )
        }
        let set = try keys.signSenderSet(of: chosen, topic: topic, by: name, lifetime: lifetime.seconds)
        try Output.line(set.description)
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
