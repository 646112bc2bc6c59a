internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys revoke`
struct RevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Declare keys stolen: from now on they neither open nor are sealed to, or with.",
        usage: "sealedpush keys revoke [<options>] <name>",
        discussion: """
            All keys under the name, also one that waits to be used; --key revokes one alone. Somebody else's device then takes \
            no further record: erase the name, and let the device enroll anew.

            Example:
              sealedpush keys revoke newsroom --keyring Keys
            """)

    @OptionGroup var life: LifeOptions

    func run() throws {
        try life.run("keys revoke") { (keys, entry, id) in
            let asked = entry.keys.filter { id == nil || $0.key.keyID == id }
            let isDone =
                asked.contains { $0.life.state == .revoked }
                && asked.allSatisfy { [.revoked, .erased].contains($0.life.state) }
            let revoked =
                try isDone ? asked.filter { $0.life.state == .revoked }.map(\.key) : revoke(entry, id, in: keys)
            for key in revoked { try Output.line("\(entry.name): \(key.keyID) is revoked\(isDone ? " already" : "")") }
            if let hint = Self.hint(entry, revoked) { Failure.report("hint: \(hint)") }
        }
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

    /// What else has to hear of it.
    private static func hint(_ entry: KeyringEntry, _ revoked: [AnyPublicKey]) -> String? {
        switch entry.kind {
        case .sender:
            let purges = revoked.map { "`sealedpush outbox purge --sender \($0)`" }.joined(separator: ", ")
            return "`serve` reads it on SIGHUP (kill -HUP PID); what it has sealed and still waits goes with \(purges)"
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
        commandName: "erase", abstract: "Destroy a key's secret for good; remove somebody else's key.",
        usage: "sealedpush keys erase [<options>] <name>",
        discussion: """
            Erased means gone from the keyring's files; flash memory, snapshots and backups are not promised.

            Example:
              sealedpush keys erase alice-phone --key 5d1f09a2 --yes --keyring Keys
            """)

    @OptionGroup var life: LifeOptions

    func run() throws {
        try life.run("keys erase") { (keys, entry, id) in
            let name = entry.name
            let loss =
                switch (entry.isOwn, entry.kind) {
                case (false, _): "\(name) will be removed from this keyring."
                case (true, .device): "Nothing that was sealed to this key of \(name) will ever open again."
                case (true, .sender): "Nobody will ever seal with this key of \(name) again."
                case (true, .authority):
                    "Nobody will ever sign for this authority again, and apps that have it built in need an update."
                }
            try Prompt.confirm("\(loss) This can't be undone.", isConfirmed: life.yes)
            try Output.line("\(name): \(try keys.erase(name, key: id).keyID) is erased")
        }
    }
}

/// What the two have in common.
struct LifeOptions: ParsableArguments {
    @Argument(help: "The key's name.") var name: KeyName

    @Option(name: .customLong("key"), help: "Which key, by its ID, if the name has several; else the one in use.")
    var keyID: String?

    @Flag(help: "Do not ask.") var yes = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func run(_ command: String, _ body: (Keyring, KeyringEntry, KeyID?) throws -> Void) throws {
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
            try body(keys, entry, id)
        }
    }
}
