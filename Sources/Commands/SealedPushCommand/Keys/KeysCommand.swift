internal import ArgumentParser
internal import CommandSupport
internal import PushKeyring
internal import SealedPush

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Create, exchange, rotate, revoke, and back up keys.",
        discussion: """
            Docs/KeyManagement.md explains setup, monthly rotation, theft, loss, and moving.

            Examples:
              sealedpush keys generate sender newsroom --keyring Keys
              sealedpush keys rotate --older-than 30d --keyring Keys
            """,
        subcommands: [
            GenerateCommand.self, ListCommand.self, ShowCommand.self, ExportCommand.self, ImportCommand.self,
            RotateCommand.self, ChallengeCommand.self, RevokeCommand.self, EraseCommand.self, PassphraseCommand.self,
            BackupCommand.self, RestoreCommand.self,
        ])
}

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List keys, and note which need attention; never shows or asks for a secret.",
        discussion: "Example:\n  sealedpush keys list --keyring Keys\n\n"
            + "Without a sealed keyring's secret, the list is unverified.")

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    @Flag(help: "Print one JSON array.") var json = false

    func run() throws {
        let (entries, isVerified) = try keyring.keys("keys list").entries()
        if json { try Output.json(.array(entries.map { $0.json() })) } else { try printTable(entries) }
        guard !isVerified else { return }
        CommandFailure.report("unverified: without the keyring's secret, there is no way to tell whether it was edited")
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
                        key.hasSecret ? "here" : entry.isOwn ? "gone" : "elsewhere", entry.note(on: key, at: now) ?? "",
                    ]
                }
            })
    }
}

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a name's keys, or a key's text, with fingerprints; never a secret.",
        usage: "sealedpush keys show [<options>] <key>",
        discussion: """
            Examples:
              sealedpush keys show newsroom --keyring Keys --qr
              sealedpush keys show pushsender1...

            Compare fingerprints, all digits or all words, over a channel that an attacker can't write to. For a device \
            that signs records, compare its enrollment key's fingerprint. Showing a name in a sealed keyring needs its secret.

            On a color terminal, the QR code is black on white. Elsewhere, or if NO_COLOR is set, it has no colors, and its \
            blocks are the light modules, for light text on a dark background.
            """)

    @Argument(help: "A name in the keyring, or a public key's text.") var key: String

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    @Flag(help: "Print JSON.") var json = false

    @Flag(help: "Also print the public key as a QR code.") var qr = false

    func validate() throws {
        guard !qr || !json else {
            throw ValidationError("Use either --qr or --json; a QR code can't be part of JSON.")
        }
        guard !qr || !isEnrollmentKey else { throw ValidationError("--qr doesn't show enrollment keys.") }
    }

    private var isEnrollmentKey: Bool { key.lowercased().hasPrefix("pushenrollment1") }

    func run() throws {
        if isEnrollmentKey {
            return try show(Fingerprint(of: EnrollmentPublicKey(parsing: key)))
        }
        let shown: AnyPublicKey
        switch try KeyReference(reading: key) {
        case .text(let text):
            shown = try text.parsed(AnyPublicKey.init(parsing:))
            try show(shown.fingerprint)
        case .name(let name):
            // A scanned or compared key will be trusted, so it is checked first.
            let entry = try keyring.keys("keys show").authenticEntry(named: name)
            if json { return try Output.json(entry.json()) }
            try show(entry)
            shown = entry.key
        }
        guard qr else { return }
        guard let code = QRCode(shown) else { throw CommandFailure.input("this key can't be shown as a QR code") }
        for line in code.terminalLines { try Output.line(line) }
    }

    private func show(_ fingerprint: Fingerprint) throws {
        if json {
            let words = fingerprint.words.map { JSONValue.string($0) }
            return try Output.json(["digits": .text(fingerprint), "words": .array(words)])
        }
        try Output.line("fingerprint: \(fingerprint)")
        try Output.line("words:       \(fingerprint.words.joined(separator: " "))")
    }

    private func show(_ entry: KeyringEntry) throws {
        try Output.line("name:        \(entry.name)")
        try Output.line("kind:        \(entry.kind.rawValue)")
        if let topic = entry.topic { try Output.line("topic:       \(topic)") }
        if let enrollment = entry.enrollment {
            try Output.line("enrollment:  \(enrollment)")
            try show(Fingerprint(of: enrollment))
        }
        if let record = entry.record {
            try Output.line("record:      number \(record.counter), until \(TimeText.day(record.expires))")
        }
        for key in entry.keys {
            try Output.line("")
            try Output.line("public key:  \(key.key)")
            try Output.line("key ID:      \(key.key.keyID)")
            try show(key.key.fingerprint)
            try Output.line("state:       \(key.life.state.rawValue)")
            try Output.line("created:     \(key.life.created.iso8601)")
            try Output.line("secret:      \(key.hasSecret ? "here" : entry.isOwn ? "gone" : "elsewhere")")
            if let note = entry.note(on: key, at: .now()) { try Output.line("note:        \(note)") }
        }
    }
}
