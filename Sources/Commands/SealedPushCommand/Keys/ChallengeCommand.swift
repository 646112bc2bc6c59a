internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import PushSender

struct ChallengeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "challenge", abstract: "Have a device prove that it holds its key.",
        usage: "sealedpush keys challenge [<options>] <name>",
        discussion: """
            Within ten minutes, the server asks, the device replies, and the server accepts the answer. From then on, \
            the server seals to the device.
              sealedpush keys challenge phone --from newsroom --keyring Keys
              sealedpush keys challenge phone --reply pushchallenge.Af... --keyring Phone
              sealedpush keys challenge phone --answer pushanswer.mV... --keyring Keys
            """)

    @Argument(help: "The device's name in this keyring.") var name: KeyName

    @Option(help: .value("sender", "Ask a device as this sender; prints a challenge.")) var from: KeyName?

    @Option(help: .value("challenge", "Answer a server's challenge; prints the answer.")) var reply: String?

    @Option(help: .value("answer", "The device's answer.")) var answer: String?

    @Option(help: "With --reply: a sender that may ask. Default: the trust list.")
    var trust: [KeyReference] = []

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard [from != nil, reply != nil, answer != nil].count(where: { $0 }) == 1
        else { throw ValidationError("Use one of --from, --reply, and --answer.") }
        guard trust.isEmpty || reply != nil else { throw ValidationError("--trust needs --reply.") }
    }

    func run() throws {
        let keys = try keyring.keys("keys challenge")
        if let from {
            try keyring.warnIfInTheClear(keys)
            try Output.line(try keys.challenge(name, from: from).text)
        } else if let reply {
            try Output.line(try keys.answer(reply, for: name, trusting: senders(keys)))
        } else if let answer {
            try Output.line("\(name): \(keys.acceptAnswer(answer, of: name).keyID) is now in use")
        }
    }

    private func senders(_ keys: Keyring) throws -> [SenderPublicKey] {
        guard trust.isEmpty else { return try trust.map { try keyring.sender($0, in: keys) } }
        guard let topic = try keys.authenticEntry(named: name).topic else { return [] }
        return try keys.trustList().senders(for: topic, at: .now())
    }
}
