internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import PushSender
internal import SealedPush

struct RotateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Create new keys, erase retired ones when due, and renew records.",
        usage: "sealedpush keys rotate [<options>] [<name>]",
        discussion: """
            With a name and no --older-than, rotates that key now. With --older-than, does only the work that is due, \
            so you can run it every day:
              sealedpush keys rotate newsroom --keyring Keys
              sealedpush keys rotate --older-than 30d --keyring Keys
              sealedpush keys rotate --older-than 30d --dry-run --keyring Keys

            A new key replaces the old one once it is confirmed. Until then, the old one stays in use and can't be \
            rotated again. Confirm a sender's key once devices trust it, and your own device's key once a message has \
            been opened with it. The old key then retires, and is erased 31 days later.
              sealedpush keys rotate newsroom --confirm --keyring Keys
            """)

    @Argument(help: "The key's name. Default: all devices and senders.") var name: KeyName?

    @Option(help: "Rotate only keys older than this, such as 30d (\(TimeSpan.help)).") var olderThan: TimeSpan?

    @Flag(help: "With --older-than: show what would be done, but do nothing.") var dryRun = false

    @Flag(help: "Start using the new, unconfirmed key.") var confirm = false

    @Flag(help: "Print one JSON object.") var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    private typealias Step = (name: KeyName, act: RotationStep.Act, key: AnyPublicKey)

    func validate() throws {
        guard name != nil || olderThan != nil
        else { throw ValidationError("Specify a name, or use --older-than, such as --older-than 30d.") }
        guard !dryRun || olderThan != nil else { throw ValidationError("--dry-run needs --older-than.") }
        guard !confirm || (name != nil && olderThan == nil && !json)
        else { throw ValidationError("--confirm needs a name, and can't be combined with --older-than or --json.") }
    }

    func run() throws {
        let keys = try keyring.keys("keys rotate")
        if confirm, let name { return try Output.line("\(name): \(keys.confirm(name).keyID) is now in use") }
        let steps = try steps(keys)
        if json {
            try Output.json(["done": .bool(!dryRun), "steps": .array(try steps.map { try json($0, keys) })])
        } else if steps.isEmpty {
            try Output.line("Nothing is due.")
        } else {
            for step in steps { try Output.line("\(step.name): \(try words(step, keys))") }
        }
        if !dryRun, steps.contains(where: { $0.act == .rotate }) { try keyring.warnIfInTheClear(keys) }
    }

    private func steps(_ keys: Keyring) throws -> [Step] {
        if let age = olderThan?.seconds {
            let steps =
                dryRun
                ? try keys.dueSteps(of: name, rotatingOlderThan: age)
                : try keys.performDueSteps(of: name, rotatingOlderThan: age)
            return steps.map { ($0.name, $0.act, $0.key) }
        }
        guard let name else { return [] }
        // A name without an age rotates this key immediately, however new it is.
        let before = try keys.entry(named: name)
        guard before.kind != .authority
        else {
            throw Failure.input("an authority's key is built into apps and can't be rotated; create a new authority")
        }
        try keys.rotate(name)
        return [(name, .rotate, before.keys[0].key)]
    }

    private func words(_ step: Step, _ keys: Keyring) throws -> String {
        let id = step.key.keyID
        switch (step.act, dryRun) {
        case (.rotate, true): return "would create a new key alongside \(id)"
        case (.rotate, false):
            let new = try keys.entry(named: step.name).keys[0]
            // If all keys were revoked or erased, no old key stays in use.
            return
                "created a new key, \(new.key.keyID), \(new.life.confirmed == nil ? "alongside \(id)" : "in use immediately")"
        case (.erase, true): return "would erase the retired key \(id)"
        case (.erase, false): return "erased the retired key \(id)"
        case (.renew, true): return "would sign a new record for \(id)"
        case (.renew, false): return "signed a new record for \(id)"
        }
    }

    private func json(_ step: Step, _ keys: Keyring) throws -> JSONValue {
        var members: [String: JSONValue] = [
            "name": .text(step.name), "act": .string(step.act.rawValue), "keyID": .text(step.key.keyID),
        ]
        if !dryRun, step.act != .erase {
            let entry = try keys.entry(named: step.name)
            members["newKeyID"] = .text(entry.keys[0].key.keyID)
            members["record"] = .text(entry.recordText)
        }
        return .object(members)
    }
}

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

struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Declare keys stolen, so that they no longer open or seal messages.",
        usage: "sealedpush keys revoke [<options>] <name>",
        discussion: """
            Revokes all keys under the name, including one that isn't in use yet; --key revokes just one. Another's \
            device then can't update its record; erase the name and let the device enroll again.

            Example:
              sealedpush keys revoke newsroom --keyring Keys
            """)

    @OptionGroup var life: LifeOptions

    func run() throws {
        let (keys, entry, id) = try life.chosen("keys revoke")
        let asked = entry.keys.filter { id == nil || $0.key.keyID == id }
        let already = asked.filter { $0.life.state == .revoked }.map(\.key)
        let isDone = !already.isEmpty && asked.allSatisfy { [.revoked, .erased].contains($0.life.state) }
        let revoked = isDone ? already : try revoke(entry, id, in: keys)
        for key in revoked { try Output.line("\(entry.name): \(key.keyID) is \(isDone ? "already " : "")revoked") }
        if let hint = Self.hint(entry, revoked) { Failure.report("hint: \(hint)") }
    }

    private func revoke(_ entry: KeyringEntry, _ id: KeyID?, in keys: Keyring) throws -> [AnyPublicKey] {
        let loss =
            switch entry.kind {
            case .device: "Messages in transit to \(entry.name) won't open."
            case .sender: "The current keys of \(entry.name) will no longer seal messages."
            case .authority: "\(entry.name) will no longer sign sender sets."
            }
        try Prompt.confirm("\(loss) This can't be undone.", isConfirmed: life.yes)
        return try keys.revoke(entry.name, key: id)
    }

    /// Returns a hint about other places where a revocation must take effect.
    private static func hint(_ entry: KeyringEntry, _ revoked: [AnyPublicKey]) -> String? {
        switch entry.kind {
        case .sender:
            let purges = revoked.map { "`sealedpush outbox purge --sender \($0)`" }.joined(separator: ", ")
            return
                "`serve` applies this on SIGHUP (kill -HUP PID); to discard waiting pushes sealed with it, run \(purges)"
        case .device where !entry.isOwn:
            return
                "an outbox has a separate list of devices; use `sealedpush device remove` to remove a device and its pushes there"
        case .device, .authority: return nil
        }
    }
}

struct EraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Permanently erase a key's secret, or remove someone else's key.",
        usage: "sealedpush keys erase [<options>] <name>",
        discussion: """
            Without --key, erases the key in use. The secret is gone from the keyring's files, but not necessarily from \
            flash memory, snapshots, or backups.

            Example:
              sealedpush keys erase alice-phone --key 5d1f09a2 --yes --keyring Keys
            """)

    @OptionGroup var life: LifeOptions

    func run() throws {
        let (keys, entry, id) = try life.chosen("keys erase")
        let name = entry.name
        let loss =
            switch (entry.isOwn, entry.kind) {
            case (false, _): "\(name) will be removed from this keyring."
            case (true, .device): "Messages sealed to this key of \(name) will never open again."
            case (true, .sender): "This key of \(name) will never seal messages again."
            case (true, .authority):
                "This authority will never sign again, and apps that have it built in will need an update."
            }
        try Prompt.confirm("\(loss) This can't be undone.", isConfirmed: life.yes)
        try Output.line("\(name): \(try keys.erase(name, key: id).keyID) is erased")
    }
}

/// The options that select the keys for `revoke` and `erase`.
struct LifeOptions: ParsableArguments {
    @Argument(help: "The key's name.") var name: KeyName

    @Option(name: .customLong("key"), help: "Only this key, by its ID, if the name has several.")
    var keyID: String?

    @Flag(help: "Don't ask for confirmation.") var yes = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    /// Looks up the keyring, the entry, and the key ID; fails if one doesn't exist. Call it before asking for confirmation.
    func chosen(_ command: String) throws -> (Keyring, KeyringEntry, KeyID?) {
        let keys = try keyring.keys(command)
        let entry = try keys.entry(named: name)
        let id = try keyID.map { text in
            guard let key = entry.keys.first(where: { $0.key.keyID.description == text.lowercased() })
            else { throw Failure.input("\(name) has no key with this ID; `keys show \(name)` lists its keys") }
            return key.key.keyID
        }
        return (keys, entry, id)
    }
}
