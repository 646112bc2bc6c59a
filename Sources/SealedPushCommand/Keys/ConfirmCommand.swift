internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys confirm`
struct ConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm",
        abstract: "Takes a new key into use: one of your own, or somebody else's that has proven itself.",
        discussion: """
            Your own: a sender's new key once devices trust it, a device's once a message has opened under it. The key
            before it retires.
              sealedpush keys confirm newsroom --keyring Keys

            Somebody else's device: make a challenge, let the device answer within ten minutes, give its answer.
              sealedpush keys confirm bob-phone --from newsroom --keyring Keys
              sealedpush keys confirm alice-phone --challenge pushchallenge.AfE... --trust newsroom --keyring Phone
              sealedpush keys confirm bob-phone --answer pushanswer.mVx... --keyring Keys
            """)

    @Argument(help: "The key's name.")
    var name: KeyName

    @Option(help: "The sender who asks, for a challenge to somebody else's device.")
    var from: KeyName?

    @Option(help: "Somebody else's device's answer.")
    var answer: String?

    @Option(help: "A server's challenge to your own device: prints the answer.")
    var challenge: String?

    @Option(help: "With --challenge: a sender who may ask; otherwise the trust list counts.")
    var trust: [KeyReference] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func validate() throws {
        guard [from != nil, answer != nil, challenge != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --from, --answer and --challenge.")
        }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys confirm")
            if let from {
                try keyring.warnIfInTheClear(keys)
                let challenge = try keys.challenge(name, from: from)
                try show(
                    challenge.text,
                    ["challenge": .string(challenge.text), "expires": .string(challenge.expires.iso8601)])
            } else if let challenge {
                let answer = try keys.answer(challenge, for: name, trusting: senders(of: name, keys))
                try show(answer, ["answer": .string(answer)])
            } else {
                let key: AnyPublicKey =
                    if let answer { .device(try keys.acceptAnswer(answer, of: name)) } else { try keys.confirm(name) }
                try show("\(name): \(key.keyID) is in use now", try keys.entry(named: name).json())
            }
        }
    }

    private func senders(of name: KeyName, _ keys: Keyring) throws -> [Sender] {
        guard trust.isEmpty else { return try trust.map { try keyring.sender($0, in: keys) } }
        guard let topic = try keys.authenticEntry(named: name).topic else { return [] }
        return try keys.trustList().senders(for: topic, at: .now())
    }

    private func show(_ text: String, _ value: JSONValue) throws {
        if json { try Output.json(value) } else { try Output.line(text) }
    }
}
