internal import ArgumentParser
internal import CommandSupport
internal import PushCore
internal import PushKeyring
internal import PushOutbox
internal import SealedPush

/// `sealedpush keys revoke`
struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Declares keys stolen: from now on they neither open nor are sealed to, or with.",
        discussion: """
            All keys under the name, also one that waits to be used; --key revokes one alone. Somebody else's device
            then takes no further record: erase the name, and let the device enroll anew.

            What a sender's key has sealed may still wait to be sent: with --outbox, it is said how much, and how to throw \
            it away.

            Examples:
              sealedpush keys revoke alice-phone --yes --keyring Keys
              sealedpush keys revoke newsroom --keyring Keys --outbox outbox.sqlite
            """)

    @OptionGroup var life: LifeOptions

    @Option(help: "An outbox's file: says what waits there that the revoked keys have sealed.")
    var outbox: String?

    func run() throws {
        // Before anything is revoked: a path that is wrong is said at once.
        let opened = try outboxIfNamed()
        let revocation = try revoke()
        if let hint = revocation.hint { Failure.report("hint: \(hint)") }
        guard let opened else { return try report(revocation) }
        try SealedPushCommand.wait { try await report(revocation, opened) }
    }

    private func report(_ revocation: Revocation, more: [String: JSONValue] = [:]) throws {
        try life.report(revocation.keys, revocation.isNew ? "revoked" : "revoked already", more: more)
    }

    private func report(_ revocation: Revocation, _ opened: Outbox) async throws {
        try await Failure.reportingAsync {
            let status: OutboxStatus
            do { status = try await opened.status() } catch {
                try report(revocation)
                throw error
            }
            var waiting: [String: JSONValue] = [:]
            for sender in revocation.senders {
                let key = SealedBy.sender(sender)
                let count = status.waitingBySender[key, default: 0] + status.deadLettersBySender[key, default: 0]
                waiting[sender.description] = .integer(Int64(count))
            }
            try report(revocation, more: ["waiting": .object(waiting)])
            guard !life.json else { return }
            for sender in revocation.senders { try Self.tell(sender, status, outbox ?? "") }
        }
    }

    private func outboxIfNamed() throws -> Outbox? {
        guard let outbox else { return nil }
        let opened = Locked<Outbox?>(nil)
        try SealedPushCommand.wait {
            try await Failure.reportingAsync {
                do {
                    let outbox = try await OutboxOptions.opened(outbox)
                    opened.withLock { $0 = outbox }
                } catch var failure as Failure {
                    failure.message += "; nothing was revoked"
                    throw failure
                }
            }
        }
        return opened.withLock { $0 }
    }

    private static func tell(_ sender: SenderPublicKey, _ status: OutboxStatus, _ outbox: String) throws {
        let waiting = status.waitingBySender[.sender(sender), default: 0]
        let refused = status.deadLettersBySender[.sender(sender), default: 0]
        guard waiting + refused > 0 else {
            return try Output.line("Nothing waits in \(outbox) that \(sender.keyID) has sealed.")
        }
        try Output.line(
            "\(sender.keyID) has sealed \(Progress.number(waiting)) waiting and \(Progress.number(refused)) refused pushes in \(outbox). To throw them away:"
        )
        try Output.line("  sealedpush outbox purge --sender \(sender) --outbox \(outbox)")
    }

    private func revoke() throws -> Revocation {
        var asked: [KeyringEntry.Key] = []
        var entry: KeyringEntry?
        let changed = try life.change("keys revoke") { (keys, name, id) in
            let before = try keys.entry(named: name)
            asked = before.keys.filter { id == nil || $0.key.keyID == id }
            let changed = try isDone(asked) ? [] : revoke(before, id, in: keys)
            entry = try keys.entry(named: name)
            return changed
        }
        let revoked = asked.filter { $0.life.state == .revoked }.map(\.key)
        return Revocation(keys: changed.isEmpty ? revoked : changed, isNew: !changed.isEmpty, entry: entry)
    }

    /// Who asks again wants to know what waits.
    private func isDone(_ keys: [KeyringEntry.Key]) -> Bool {
        keys.contains { $0.life.state == .revoked } && keys.allSatisfy { [.revoked, .erased].contains($0.life.state) }
    }

    private func revoke(_ entry: KeyringEntry, _ id: KeyID?, in keys: Keyring) throws -> [AnyPublicKey] {
        let loss =
            switch entry.kind {
            case .device: "What is on its way to \(entry.name) won't open."
            case .sender: "Nothing will be sealed as \(entry.name) with what keys it has."
            case .authority: "No sender set will be signed by \(entry.name)."
            }
        try Prompt.confirm("\(loss) This can't be undone.", isConfirmed: life.yes)
        return try keys.revoke(entry.name, key: id)
    }
}

/// What `keys revoke` has done, or found done.
private struct Revocation {
    let keys: [AnyPublicKey]
    let isNew: Bool
    let entry: KeyringEntry?

    /// All of the name that are revoked, also from before.
    var senders: [SenderPublicKey] {
        (entry?.keys ?? []).filter { $0.life.state == .revoked }.compactMap { key in
            guard case .sender(let sender) = key.key else { return nil }
            return sender
        }
    }

    /// What else has to hear of it.
    var hint: String? {
        guard let entry else { return nil }
        switch entry.kind {
        case .sender: return "`serve` reads it on SIGHUP: kill -HUP PID"
        case .device where !entry.isOwn:
            return
                "an outbox has devices of its own: `sealedpush device remove` forgets one there, and what waits for it"
        case .device, .authority: return nil
        }
    }
}

/// `sealedpush keys erase`
struct EraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Destroys a key's secret for good; removes somebody else's key.",
        discussion: """
            Erased means gone from the keyring's files; flash memory, snapshots and backups are not promised.

            Example:
              sealedpush keys erase alice-phone --key 5d1f09a2 --yes --keyring Keys
            """)

    @OptionGroup var life: LifeOptions

    func run() throws {
        try life.run("keys erase", "erased") { (keys, name, id) in
            let entry = try keys.entry(named: name)
            let loss =
                switch (entry.isOwn, entry.kind) {
                case (false, _): "\(name) will be removed from this keyring."
                case (true, .device): "Nothing that was sealed to this key of \(name) will ever open again."
                case (true, .sender): "Nobody will ever seal with this key of \(name) again."
                case (true, .authority):
                    "Nobody will ever sign for this authority again, and apps that have it built in need an update."
                }
            try Prompt.confirm("\(loss) This can't be undone.", isConfirmed: life.yes)
            return [try keys.erase(name, key: id)]
        }
    }
}

/// What the two have in common.
struct LifeOptions: ParsableArguments {
    @Argument(help: "The key's name.")
    var name: KeyName

    @Option(name: .customLong("key"), help: "Which key, by its ID, where the name has several; else the one in use.")
    var keyID: String?

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var keyring: KeyringOptions

    func run(
        _ command: String, _ done: String, _ body: (Keyring, KeyName, KeyID?) throws -> [AnyPublicKey]
    ) throws {
        try report(try change(command, body), done)
    }

    /// Returns the keys that were changed.
    func change(
        _ command: String, _ body: (Keyring, KeyName, KeyID?) throws -> [AnyPublicKey]
    ) throws -> [AnyPublicKey] {
        var changed: [AnyPublicKey] = []
        try Failure.reporting {
            let keys = try keyring.keys(command)
            // Before anybody is asked: there must be something to do it to.
            let entry = try keys.entry(named: name)
            let id = try keyID.map { text in
                guard let key = entry.keys.first(where: { $0.key.keyID.description == text.lowercased() }) else {
                    throw Failure.input("\(name) has no key with this ID: `keys show \(name)` lists them")
                }
                return key.key.keyID
            }
            changed = try body(keys, name, id)
        }
        return changed
    }

    func report(_ changed: [AnyPublicKey], _ done: String, more: [String: JSONValue] = [:]) throws {
        if json {
            let members: [String: JSONValue] = [
                "name": .string(name.description), "keyID": .string(changed[0].keyID.description),
                "keyIDs": .array(changed.map { .string($0.keyID.description) }),
            ]
            return try Output.json(.object(members.merging(more) { $1 }))
        }
        for key in changed { try Output.line("\(name): \(key.keyID) is \(done)") }
    }
}
