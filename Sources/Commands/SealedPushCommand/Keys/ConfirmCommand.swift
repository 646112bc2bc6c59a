internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import PushSender
internal import SealedPush

/// `sealedpush keys confirm`
struct ConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm", abstract: "Take a new key of your own into use; the key before it retires.",
        discussion: """
            Confirm a sender's new key once devices trust it, and a device's once a message has opened under it.

            Example:
              sealedpush keys confirm newsroom --keyring Keys
            """)

    @Argument(help: "The key's name.") var name: KeyName

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys confirm")
            let key = try keys.confirm(name)
            try Output.line("\(name): \(key.keyID) is in use now")
        }
    }
}

/// `sealedpush keys challenge`
struct ChallengeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "challenge",
        abstract: "Let somebody else's device prove that it holds its key, within ten minutes.",
        usage: "sealedpush keys challenge [<options>] <name>",
        discussion: """
            The server asks, the device replies, and the server takes the answer. From then on it seals to the device:
              sealedpush keys challenge bob-phone --from newsroom --keyring Keys
              sealedpush keys challenge bob-phone --reply pushchallenge.AfE... --trust newsroom --keyring Phone
              sealedpush keys challenge bob-phone --answer pushanswer.mVx... --keyring Keys
            """)

    @Argument(help: "The device's name in this keyring.") var name: KeyName

    @Option(help: "The sender that asks: prints a challenge.") var from: KeyName?

    @Option(help: "A server's challenge to your own device: prints the answer.") var reply: String?

    @Option(help: "The device's answer.") var answer: String?

    @Option(help: "With --reply: a sender that may ask; without it, the trust list decides.")
    var trust: [KeyReference] = []

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard [from != nil, reply != nil, answer != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Give one of --from, --reply and --answer.")
        }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys challenge")
            if let from {
                try keyring.warnIfInTheClear(keys)
                let challenge = try keys.challenge(name, from: from)
                try Output.line(challenge.text)
            } else if let reply {
                try Output.line(try keys.answer(reply, for: name, trusting: senders(of: name, keys)))
            } else if let answer {
                let recipient = try keys.acceptAnswer(answer, of: name)
                try Output.line("\(name): \(recipient.keyID) is in use now")
            }
        }
    }

    private func senders(of name: KeyName, _ keys: Keyring) throws -> [SenderPublicKey] {
        guard trust.isEmpty else { return try trust.map { try keyring.sender($0, in: keys) } }
        guard let topic = try keys.authenticEntry(named: name).topic else { return [] }
        return try keys.trustList().senders(for: topic, at: .now())
    }
}
