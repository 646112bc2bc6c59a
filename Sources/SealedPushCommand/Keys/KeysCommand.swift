internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

/// `sealedpush keys`
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Makes keys, exchanges them, and looks after them for as long as they live.",
        discussion: """
            Docs/KeyManagement.md says what to do when: first set-up, monthly rotation, theft, loss, moving.

            Example:
              sealedpush keys generate sender newsroom --keyring Keys
              sealedpush keys rotate --older-than 30d --keyring Keys
            """,
        subcommands: [
            GenerateCommand.self, ListCommand.self, ShowCommand.self, ExportCommand.self, ImportCommand.self,
            RenameCommand.self, RotateCommand.self, ConfirmCommand.self, RetireCommand.self, RevokeCommand.self,
            EraseCommand.self, PassphraseCommand.self, BackupCommand.self, RestoreCommand.self,
            FingerprintCommand.self, KeysDoctorCommand.self,
        ])

    func run() throws { throw ValidationError("Say what to do with keys: `sealedpush keys --help` lists it.") }
}

/// `sealedpush keys list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys and what needs attention; never a secret, and without asking for one.",
        discussion: "Example:\n  sealedpush keys list --keyring Keys\n\n"
            + "With the secret of a sealed keyring, it checks what it shows.")

    @OptionGroup var keyring: KeyringOptions

    @Flag(help: "Print one JSON array.")
    var json = false

    func run() throws {
        try Failure.reporting {
            let (entries, errors) = try keyring.keys("keys list").entries()
            defer { for error in errors { Failure.report(error.shown) } }
            if json { try Output.json(.array(entries.map { $0.json() })) } else { try printTable(entries) }
            if let error = errors.first { throw ExitCode(error.exitStatus) }
        }
    }

    private func printTable(_ entries: [KeyringEntry]) throws {
        if entries.isEmpty { return try Output.line("There are no keys in \(keyring.keyring).") }
        let now = Timestamp.now()
        try Output.table(
            ["NAME", "KIND", "KEY ID", "STATE", "AGE", "SECRET", "NOTE"],
            entries.flatMap { entry in
                entry.keys.map { key in
                    [
                        entry.name.description, entry.kind.rawValue, key.key.keyID.description,
                        key.life.state.rawValue, TimeText.span(now.seconds(since: key.life.created)),
                        key.hasSecret ? "here" : entry.isOwn ? "gone" : "elsewhere",
                        entry.note(on: key, at: now) ?? "",
                    ]
                }
            })
    }
}

/// `sealedpush keys show`
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows one name's keys, or all; never a secret.",
        discussion: "Examples:\n  sealedpush keys show newsroom --keyring Keys --json\n"
            + "  sealedpush keys show newsroom --keyring Keys --qr\n\n"
            + "With the secret of a sealed keyring, it checks what it shows; --qr needs it. " + QRCode.help)

    @Argument(help: "The key's name; all keys without it.")
    var name: KeyName?

    @OptionGroup var keyring: KeyringOptions

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print the public key as a QR code too; needs a name.")
    var qr = false

    func validate() throws { try QRCode.validate(isAskedFor: qr, hasName: name != nil, json: json) }

    func run() throws {
        try Failure.reporting {
            let keys = try keyring.keys("keys show")
            guard let name else {
                let (entries, errors) = try keys.entries()
                defer { for error in errors { Failure.report(error.shown) } }
                if json { try Output.json(.array(entries.map { $0.json() })) } else { try show(entries) }
                if let error = errors.first { throw ExitCode(error.exitStatus) }
                return
            }
            // What somebody scans he believes.
            let entry = try qr ? keys.authenticEntry(named: name) : keys.entry(named: name)
            if json { return try Output.json(entry.json()) }
            try show([entry])
            if qr { try QRCode.show(entry.key) }
        }
    }

    private func show(_ entries: [KeyringEntry]) throws {
        for (index, entry) in entries.enumerated() {
            if index > 0 { try Output.line("") }
            try show(entry)
        }
    }

    private func show(_ entry: KeyringEntry) throws {
        try Output.line("name:        \(entry.name)")
        try Output.line("kind:        \(entry.kind.rawValue)")
        if let topic = entry.topic { try Output.line("topic:       \(topic)") }
        if let enrolment = entry.enrolment {
            try Output.line("enrolment:   \(enrolment)")
            try Output.line("fingerprint: \(Fingerprint(of: enrolment)) (the enrolment's: `keys fingerprint`)")
        }
        if let record = entry.record {
            try Output.line("record:      number \(record.counter), until \(TimeText.day(record.expires))")
        }
        for key in entry.keys {
            try Output.line("")
            try Output.line("public key:  \(key.key)")
            try Output.line("key ID:      \(key.key.keyID)")
            let whose = entry.enrolment == nil ? "" : " (this key's)"
            try Output.line("fingerprint: \(key.key.fingerprint)\(whose)")
            try Output.line("state:       \(key.life.state.rawValue)")
            try Output.line("created:     \(key.life.created.iso8601)")
            try Output.line("secret:      \(key.hasSecret ? "here" : entry.isOwn ? "gone" : "elsewhere")")
            if let note = entry.note(on: key, at: .now()) { try Output.line("note:        \(note)") }
        }
    }
}
