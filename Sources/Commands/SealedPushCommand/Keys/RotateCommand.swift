internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
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
            throw CommandFailure.input(
                "an authority's key is built into apps and can't be rotated; create a new authority")
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
