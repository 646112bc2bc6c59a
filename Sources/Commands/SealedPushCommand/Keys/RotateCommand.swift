internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys rotate`
struct RotateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Make new keys, erase retired ones that are due, and renew records.",
        usage: "sealedpush keys rotate [<options>] [<name>]",
        discussion: """
            With a name and no --older-than, that key is rotated now. With --older-than only what is due is done, so \
            it may run every day:
              sealedpush keys rotate newsroom --keyring Keys
              sealedpush keys rotate --older-than 30d --keyring Keys
              sealedpush keys rotate --older-than 30d --dry-run --keyring Keys

            A new key takes the old one's place once it is confirmed (`keys confirm`); until then the old one stays in \
            use, and there is no further rotation. A retired key is erased 31 days later.
            """)

    @Argument(help: "The key's name; all devices and senders without it.") var name: KeyName?

    @Option(help: "Rotate only keys that are older, such as 30d (\(TimeSpan.help)).") var olderThan: TimeSpan?

    @Flag(help: "Say what would be done, and do nothing.") var dryRun = false

    @Flag(help: "Print one JSON object.") var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard name != nil || olderThan != nil else {
            throw ValidationError("Name a key, or say --older-than, such as --older-than 30d.")
        }
    }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys rotate")
            // Whoever names a key and no age means this key, now, however young it is: also one from before the clock was set
            // back.
            let age = olderThan?.seconds ?? .min
            if let name, olderThan == nil, try !requireRotatable(name, keys) { return try replace(name, keys) }
            let plan =
                dryRun
                ? try keys.dueSteps(of: name, rotatingOlderThan: age)
                : try keys.performDueSteps(of: name, rotatingOlderThan: age)
            if json { try Output.json(try plan.json(isDone: !dryRun, keys)) } else { try show(plan, keys) }
            if !dryRun, plan.steps.contains(where: { $0.act == .rotate }) { try keyring.warnIfInTheClear(keys) }
        }
    }

    /// Says why not, where a single key can't be rotated; false where none is in use that a new one could stand beside.
    private func requireRotatable(_ name: KeyName, _ keys: Keyring) throws -> Bool {
        let entry = try keys.entry(named: name)
        guard entry.isOwn else { throw KeyringError.noSecret(name) }
        guard entry.kind != .authority else {
            throw Failure.input("an authority's key is built into apps, and is not rotated: make a new authority")
        }
        guard !entry.keys.contains(where: { $0.life.state == .active && $0.life.confirmed == nil }) else {
            throw KeyringError.unconfirmed(name)
        }
        return entry.keys.contains { $0.life.state == .active }
    }

    /// After all keys were revoked, retired or erased: a new one, in use at once.
    private func replace(_ name: KeyName, _ keys: Keyring) throws {
        let old = try keys.entry(named: name).keys[0].key
        let new = dryRun ? nil : try keys.rotate(name)
        if new != nil { try keyring.warnIfInTheClear(keys) }
        guard json else {
            return try Output.line(
                new.map { "\(name) has a new key, \($0.keyID), in use at once" }
                    ?? "\(name) would get a new key, in use at once")
        }
        try Output.json([
            "done": .bool(!dryRun),
            "steps": [
                .object(RotationPlan.members(name, .rotate, old, new: try new.map { _ in try keys.entry(named: name) }))
            ],
        ])
    }

    private func show(_ plan: RotationPlan, _ keys: Keyring) throws {
        if plan.steps.isEmpty { return try Output.line("Nothing is due.") }
        for step in plan.steps {
            let what =
                switch (step.act, dryRun) {
                case (.rotate, true): "would get a new key beside"
                case (.rotate, false): "has a new key, \(try keys.entry(named: step.name).keys[0].key.keyID), beside"
                case (.erase, true): "would erase its retired key"
                case (.erase, false): "has erased its retired key"
                case (.renew, true): "would get a new record for"
                case (.renew, false): "has a new record for"
                }
            try Output.line("\(step.name) \(what) \(step.key.keyID)")
        }
    }
}

extension RotationPlan {
    fileprivate func json(isDone: Bool, _ keys: Keyring) throws -> JSONValue {
        [
            "done": .bool(isDone),
            "steps": .array(
                try steps.map { step in
                    let entry = isDone && step.act != .erase ? try keys.entry(named: step.name) : nil
                    return .object(Self.members(step.name, step.act, step.key, new: entry))
                }),
        ]
    }

    /// One step; `new` is the name with what the step has made.
    fileprivate static func members(
        _ name: KeyName, _ act: Act, _ key: AnyPublicKey, new: KeyringEntry?
    ) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "name": .string(name.description), "act": .string(act.rawValue), "keyID": .string(key.keyID.description),
        ]
        if let new {
            members["newKeyID"] = .string(new.keys[0].key.keyID.description)
            members["record"] = new.recordText.map { .string($0) } ?? .null
        }
        return members
    }
}
