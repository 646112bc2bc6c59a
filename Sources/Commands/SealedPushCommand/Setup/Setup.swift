internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushHTTP
internal import PushKeyring
internal import PushOutbox
internal import SealedPush

/// Creates the keys and settings of the services. Never replaces a file or a value: a second run adds what is missing.
///
/// Everything is checked before anything is created. If a key was lost that can't be made again, it refuses: with a new sender,
/// no phone would show the messages.
struct Setup {
    let layout: SetupLayout
    let topic: Topic?
    let sender: KeyName?
    /// The sender of an earlier setup, which must be there.
    let expected: SenderPublicKey?
    let providerKey: ProviderKeyName?
    /// Asks for the bundle ID, if it isn't known otherwise.
    let askForTopic: () throws -> Topic

    /// A file that the services need.
    struct Item: Equatable {
        let path: String
        let purpose: String
        let isNew: Bool
    }

    struct Report {
        let layout: SetupLayout
        let name: KeyName
        let topic: Topic
        let sender: AnyPublicKey
        /// Whether the sender was created just now.
        let isNewSender: Bool
        /// Whether Apple's key is installed.
        let hasAppleKey: Bool
        let items: [Item]
    }

    /// The sender's name if no other is chosen.
    static let defaultSender: KeyName = "newsroom"

    func run() throws -> Report {
        try layout.requireOwnFolders()
        var settings = try SettingsFile(at: layout.settings) ?? newSettings
        let isNewFile = try !InputFile.exists(layout.settings)
        let name = try chosen(.sender, in: settings, sender, else: { Self.defaultSender }, KeyName.init(parsing:))
        let hasKeys = try requireWholeKeys(settings)
        let existing = hasKeys ? try existingSender(name) : nil
        let makesOutboxKey = try needsOutboxKey(settings)
        let apple = try newAppleKey(settings)
        let topic = try chosen(.topic, in: settings, topic, else: askForTopic, Topic.init(parsing:))

        try layout.makeFolders()
        var items: [Item] = []
        func add(_ path: String, _ purpose: String, _ make: (() throws -> Void)?) throws {
            try make?()
            items.append(Item(path: path, purpose: purpose, isNew: make != nil))
        }
        let key = try existing ?? newSender(name)
        items.append(Item(path: layout.keyFile, purpose: "opens the keyring", isNew: existing == nil))
        items.append(Item(path: layout.keyring, purpose: "the keyring, with \(name)", isNew: existing == nil))
        for outboxKey in try outboxKeys(makesOutboxKey) { items.append(outboxKey) }
        try add(layout.token, "the back end's token", InputFile.exists(layout.token) ? nil : makeToken)
        if let apple { items.append(try make(apple)) }
        let before = settings.text
        settings[.sender] = name.description
        settings[.topic] = topic.description
        if let providerKey { settings[.appleKey] = "\(providerKey.keyID),\(providerKey.teamID)" }
        if makesOutboxKey { addOutboxKeyOption(to: &settings) }
        let isChanged = isNewFile || settings.text != before
        try add(layout.settings, "the settings", isChanged ? { try write(settings, isNew: isNewFile) } : nil)
        return Report(
            layout: layout, name: name, topic: topic, sender: key, isNewSender: existing == nil,
            hasAppleKey: try InputFile.exists(layout.appleKey), items: items)
    }

    // MARK: Settings

    private var newSettings: SettingsFile {
        SettingsFile(
            new: layout.settings,
            text: """
                # Options of `sealedpush start`. Keep secrets in files.
                SENDER=
                TOPIC=
                OUTBOX=\(layout.outbox)
                SERVE_OPTIONS=

                """)
    }

    /// Returns a setting that the file has, or one that was given. Both must be the same: services and phones depend on it.
    private func chosen<Value: Equatable & CustomStringConvertible>(
        _ setting: SettingsFile.Name, in settings: SettingsFile, _ given: Value?, else other: () throws -> Value,
        _ parse: (String) -> Value?
    ) throws -> Value {
        let text = settings[setting]
        guard !text.isEmpty else { return try given ?? other() }
        guard let value = parse(text) else {
            throw CommandFailure.input("\(settings.path): \(setting.rawValue) isn't valid; correct it there")
        }
        guard given ?? value == value else {
            throw CommandFailure.input(
                "\(settings.path) already has \(setting.rawValue)=\(value), which setup doesn't change; edit it there")
        }
        return value
    }

    private func write(_ settings: SettingsFile, isNew: Bool) throws {
        let bytes = Array(settings.text.utf8)
        guard !isNew else { return try OutputFile.create(settings.path, bytes, mode: 0o644) }
        var facts = stat()
        guard stat(settings.path, &facts) == 0 else {
            throw CommandFailure.file("\(settings.path): \(String(cString: strerror(errno)))")
        }
        do throws(DurableFiles.Failure) {
            try DurableFiles.replace(URL(filePath: settings.path), with: bytes, mode: 0o600)
        } catch { throw CommandFailure.file("\(settings.path) can't be written: \(error.message)") }
        // The umask must not hide from the services' commands what everyone could read.
        _ = chmod(settings.path, facts.st_mode & 0o777)
    }

    // MARK: The keyring

    private var keyringFile: String { "\(layout.keyring)/keyring.txt" }

    /// Returns whether there are keys. Throws if only a part of them is there.
    private func requireWholeKeys(_ settings: SettingsFile) throws -> Bool {
        let keyFile = layout.keyFile
        switch (try InputFile.exists(keyringFile), try InputFile.exists(keyFile)) {
        case (true, true): return true
        case (true, false):
            throw Self.lost("\(keyFile), which opens \(layout.keyring), is missing", "restore the file from its backup")
        case (false, true):
            throw Self.lost(
                "\(keyFile) is there, but its keyring in \(layout.keyring) is missing",
                "restore the keyring (`sealedpush keys restore`), or delete the file if nothing was ever sealed with it"
            )
        case (false, false) where expected != nil:
            throw Self.lost(
                "there is no keyring in \(layout.keyring), but --sender-key names the sender of an earlier setup",
                "mount the volume that has it, or restore it (`sealedpush keys restore`)")
        case (false, false):
            guard try hasOutbox(settings) else { return false }
            throw Self.lost(
                "there is an outbox at \(layout.outbox), but no keyring in \(layout.keyring)",
                "restore the keyring (`sealedpush keys restore`), or move the outbox away")
        }
    }

    /// A failure that ends a setup that has lost a part. The phones of the earlier setup trust only its sender.
    private static func lost(_ what: String, _ remedy: String) -> CommandFailure {
        CommandFailure(
            status: 77, message: "\(what): nothing was changed, since new keys would shut out phones; \(remedy)")
    }

    private func existingSender(_ name: KeyName) throws -> AnyPublicKey {
        let keys = Keyring(
            folder: URL(filePath: layout.keyring), unlocking: .given(try Secrets.secret(keyFileSecret)),
            command: "setup")
        let entry: KeyringEntry
        do { entry = try layout.serve.acting { try keys.authenticEntry(named: name) } } catch KeyringError.notFound {
            throw CommandFailure.input(
                "\(layout.keyring) has no sender \(name); choose one that it has with --sender, or create it with `sealedpush keys generate sender`"
            )
        }
        guard entry.kind == .sender, entry.isOwn else { throw KeyringError.noSecret(name) }
        guard expected.map({ key in entry.keys.contains { $0.key == .sender(key) } }) ?? true else {
            throw CommandFailure(
                status: 77,
                message:
                    "the sender \(name) in \(layout.keyring) isn't the one that --sender-key names; mount the right volume, or correct the option"
            )
        }
        return entry.key
    }

    private var keyFileSecret: SecretFile { SecretFile(layout.keyFile, from: "--in") }

    private func newSender(_ name: KeyName) throws -> AnyPublicKey {
        let (secret, created) = try Secrets.newSecret(
            file: layout.keyFile, option: "--in", question: "", for: "the keyring")
        let keys = Keyring(folder: URL(filePath: layout.keyring), unlocking: .given(secret), command: "setup")
        do { return .sender(try layout.serve.acting { try keys.generateSender(named: name) }) } catch {
            // The change can fail after it took effect, and then the file has the only key.
            if (try? InputFile.exists(keyringFile)) == false { created?.remove() }
            throw error
        }
    }

    // MARK: The outbox

    private static let outboxKeyOption = "--outbox-key"

    private func isInPostgres(_ settings: SettingsFile) -> Bool { settings[.outbox].hasPrefix("postgres") }

    private func hasOutbox(_ settings: SettingsFile) throws -> Bool {
        guard !isInPostgres(settings) else { return false }
        let place = settings[.outbox].isEmpty ? layout.outbox : settings[.outbox]
        guard try InputFile.exists(place) else { return false }
        let facts = try? FileManager.default.attributesOfItem(atPath: place)
        return facts?[.size] as? Int != 0
    }

    /// Whether the services use an outbox key, or will: an outbox can get one only while it is empty.
    ///
    /// - Throws: a failure if the key of an outbox is missing.
    private func needsOutboxKey(_ settings: SettingsFile) throws -> Bool {
        let isConfigured = settings[.serveOptions].contains(Self.outboxKeyOption)
        let exists = try layout.outboxKeys.contains { try InputFile.exists($0.path) }
        guard !isInPostgres(settings) else { return false }
        guard try hasOutbox(settings), !exists else { return true }
        guard isConfigured || !layout.isPackage else { return false }
        throw Self.lost(
            "the outbox's key \(layout.outboxKeys[0].path) is missing, but there is an outbox",
            "restore the file from its backup")
    }

    /// Creates the outbox's key, or copies it for the service that lacks it.
    private func outboxKeys(_ isNeeded: Bool) throws -> [Item] {
        guard isNeeded else { return [] }
        let present = try layout.outboxKeys.filter { try InputFile.exists($0.path) }
        var key = try present.first.map { (path, owner) in
            try owner.acting { try SecretFile(path, from: "--in").read(limit: 4_096) }
        }
        defer { if key != nil { wipe(&key!) } }
        var items: [Item] = []
        for (path, owner) in layout.outboxKeys {
            let file = SecretFile(path, from: "--in")
            let isNew = try !InputFile.exists(path)
            try owner.acting {
                if let key {
                    if isNew { return try file.create(key) }
                    var other = try file.read(limit: 4_096)
                    defer { wipe(&other) }
                    guard ConstantTime.areEqual(key, other) else {
                        throw CommandFailure.input(
                            "\(path) isn't the key in \(layout.outboxKeys[0].path); find out which one the outbox has")
                    }
                } else {
                    try OutboxOptions.createKey(file)
                    key = try file.read(limit: 4_096)
                }
            }
            items.append(Item(path: path, purpose: "the outbox's key", isNew: isNew))
        }
        return items
    }

    private func addOutboxKeyOption(to settings: inout SettingsFile) {
        for name in layout.isPackage ? [.serveOptions, .workOptions] : [SettingsFile.Name.serveOptions]
        where !settings[name].contains(Self.outboxKeyOption) {
            let option = "\(Self.outboxKeyOption) \(layout.outboxKeyOption)"
            settings[name] = [option, settings[name]].filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    // MARK: Tokens and Apple's key

    private func makeToken() throws {
        try BearerTokens.withNewToken { text throws in
            var text = Array(text)
            defer { wipe(&text) }
            try SecretFile(layout.token, from: "--in").create(text)
        }
        guard layout.isPackage else { return }
        // Root's folder: nobody else can put a link in its place.
        guard chown(layout.token, 0, layout.serve.group) == 0, chmod(layout.token, 0o640) == 0 else {
            throw CommandFailure.file("\(layout.token): \(String(cString: strerror(errno)))")
        }
    }

    /// Apple's key, checked, and whether it must be copied.
    private struct AppleKey {
        let source: SecretFile
        let isNew: Bool
    }

    private func newAppleKey(_ settings: SettingsFile) throws -> AppleKey? {
        guard let providerKey else { return nil }
        let account = "\(providerKey.keyID),\(providerKey.teamID)"
        let known = settings[.appleKey]
        guard known.isEmpty || known == account else {
            throw CommandFailure.input(
                "\(settings.path) already names another of Apple's keys, which setup doesn't replace; see Docs/Operations.md"
            )
        }
        // Also checks the identifiers.
        _ = try providerKey.read()
        let source = SecretFile(providerKey.file, from: "--provider-key")
        guard try InputFile.exists(layout.appleKey) else { return AppleKey(source: source, isNew: true) }
        var (given, present) = (
            try source.read(limit: 16_384), try SecretFile(layout.appleKey, from: "--in").read(limit: 16_384)
        )
        defer {
            wipe(&given)
            wipe(&present)
        }
        guard ConstantTime.areEqual(given, present) else {
            throw CommandFailure.file("\(layout.appleKey) already exists and won't be overwritten")
        }
        return AppleKey(source: source, isNew: false)
    }

    private func make(_ key: AppleKey) throws -> Item {
        if key.isNew {
            var bytes = try key.source.read(limit: 16_384)
            defer { wipe(&bytes) }
            try SecretFile(layout.appleKey, from: "--in").create(bytes)
        }
        return Item(path: layout.appleKey, purpose: "Apple's key", isNew: key.isNew)
    }
}
