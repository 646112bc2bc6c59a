import Foundation
import PushCore
import PushKeyring
import PushPostgres
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@testable import PushOutbox
@testable import PushSender
@testable import PushService
@testable import SealedPush

/// Tests the files of each version in Tests/Data/Compatibility, which every later version must read: Docs/Compatibility.md.
///
/// To add the files of a new version, run this suite once with its name in `SEALED_PUSH_MAKE_COMPATIBILITY`.
@Suite("Files of earlier versions", .serialized, .blocking) struct CompatibilityTests {
    private static let newVersion = ProcessInfo.processInfo.environment["SEALED_PUSH_MAKE_COMPATIBILITY"]

    @Test("the files of a version are created once, by that version", .enabled(if: newVersion != nil)) func make()
        async throws
    {
        let folder = CompatibilityFiles.root.appending(path: try #require(Self.newVersion))
        try #require(!FileManager.default.fileExists(atPath: folder.path), "it is never overwritten")
        try await CompatibilityFiles(folder).make()
    }

    @Test("files of earlier versions exist") func areThere() { #expect(CompatibilityFiles.versions.first == "1.0") }

    /// Makes a copy that only its owner can access, because a clone of the repository has other file modes.
    private func files(_ version: String, _ body: (CompatibilityFiles) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let copy = folder.appending(version)
        try FileManager.default.copyItem(at: CompatibilityFiles.root.appending(path: version), to: copy)
        let names = try FileManager.default.subpathsOfDirectory(atPath: copy.path)
        for file in [copy] + names.map({ copy.appending(path: $0) }) {
            let isFolder = try file.resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false
            try FileManager.default.setAttributes(
                [.posixPermissions: isFolder ? 0o700 : 0o600], ofItemAtPath: file.path)
        }
        try await body(CompatibilityFiles(copy))
    }

    @Test("a keyring, the same keyring sealed, and its backup can be read", arguments: CompatibilityFiles.versions)
    func keyrings(
        _ version: String
    )
        async throws
    {
        try await files(version) { files in
            let now = CompatibilityFiles.now
            let restored = Keyring(folder: files.folder.appending(path: "Restored"))
            _ = try restored.restore(Array(Data(contentsOf: files["keyring.backup"])), with: files.passphrase, at: now)
            let opened: [Keyring] = [
                files.keyring, Keyring(folder: files["Sealed"], unlocking: .given(files.passphrase)),
                Keyring(folder: restored.folder, unlocking: .given(files.passphrase)),
            ]
            for keyring in opened {
                let entries = try keyring.entries()
                #expect(
                    entries.keys.map(\.name.description) == [
                        "authority", "new-phone", "newsroom", "old-phone", "their-phone",
                    ])
                #expect(try keyring.sender(named: "newsroom") == files.sender.sender)
                #expect(try keyring.recipient(named: "new-phone", at: now).recipient.isHybrid)
                #expect(try !keyring.recipient(named: "old-phone", at: now).recipient.isHybrid)
                #expect(try keyring.deviceKeys(named: "new-phone").count == 1)
                #expect(throws: KeyringError.self) { try keyring.recipient(named: "their-phone", at: now) }
            }
        }
    }

    @Test(
        "a phone's keychain, ledger, markers, and log can be read: it opens payloads of every type, and no message twice",
        arguments: CompatibilityFiles.versions)
    func phone(_ version: String) async throws {
        try await files(version) { files in
            let names = try files.payloadNames
            #expect(names.count >= 9, "\(names)")
            try files.renewOrigin()
            for name in names.sorted() {
                // One of them was opened before, as another notification.
                let opened = await files.open(name, as: "later")
                switch name {
                case "opened": #expect(throws: OpenError.replayed) { try opened.get() }
                case "withdrawal-background", "withdrawal-filtered":
                    #expect(try opened.get().content.withdrawal?.target == .thread("nina"))
                default: #expect(try opened.get().content.alert.body == "Lunch at one?", "\(name)")
                }
            }
            let full = try Content(parsing: Array(CompatibilityFiles.allMembers.utf8))
            let suites = try names.map { try files.envelope($0).bytes[0] }
            #expect(Set(suites) == [1, 2, 3])
            #expect(full.chart != nil && full.person != nil && full.attachments.count == 1 && full.isTemplate)
            let app = try files.app(.hybrid)
            let known = try DeviceRecord(parsing: try files.texts["record"] ?? "")
            // The phone already has this one.
            #expect(
                try app.accept(senderSet: #require(files.senderSet).description, at: CompatibilityFiles.now).counter > 0
            )
            let done = try app.maintain(serverKnows: known, at: CompatibilityFiles.now)
            #expect(done.record == known && done.rotated == nil && done.retired.isEmpty)
            let log = ServiceLog(folder: files["Phone/SealedPush"]).entries()
            #expect(log.first?.reason == nil && log.first?.recipientKeyID == known.recipients[0].keyID.description)
        }
    }

    @Test(
        "records, a sender set, a leaving, a challenge with its answer, and receipts can be read",
        arguments: CompatibilityFiles.versions)
    func texts(_ version: String) async throws {
        try await files(version) { files in
            let (texts, now) = (try files.texts, CompatibilityFiles.now)
            func text(_ name: String) throws -> String { try #require(texts[name], "\(name)") }
            let older = try DeviceRecord(parsing: text("older-record"))
            var device = try EnrolledDevice(pinning: older, topic: CompatibilityFiles.topic, at: now)
            try device.accept(DeviceRecord(parsing: text("record")), at: now)
            #expect(device.record.recipients.map(\.isHybrid) == [true] && device.record.keeps == 30)
            let pending = try PendingChallenge(parsing: text("pending"))
            try device.prove(pending, answer: text("answer"), at: now)
            #expect(try device.recipient(at: now).recipient == device.record.recipients[0])
            #expect(try files.app(.hybrid).answer(challenge: text("challenge"), at: now) == text("answer"))
            let set = try #require(files.senderSet)
            let sender = try files.sender
            #expect(set.senders == [sender.sender])
            #expect(
                try Leaving(parsing: text("leaving"), topic: CompatibilityFiles.topic).enrollment == device.enrollment)
            let receiver = ReceiptReceiver(keys: [ReceiptKey(of: sender, for: CompatibilityFiles.topic)])
            let receipt = try receiver.receive(try #require(Hex.decode(text("receipt"))), at: now)
            #expect(receipt.failures.count == 1)
        }
    }

    @Test("an outbox in a file can be read", arguments: CompatibilityFiles.versions) func file(_ version: String)
        async throws
    {
        try await files(version) { files in
            let outbox = try Outbox(at: files["outbox.sqlite"].path, clock: files.clock, key: files.outboxKey)
            try await files.expectWhole(outbox)
        }
    }

    @Test("an outbox in PostgreSQL can be read", arguments: CompatibilityFiles.versions) func database(
        _ version: String
    )
        async throws
    {
        try await files(version) { files in
            let database = try await PostgresServer.shared.value.database()
            let dump = try Checkout.text(files["outbox.sql"])
            try await database.run("DROP SCHEMA IF EXISTS sealed_push CASCADE; \(dump); SET search_path = public")
            let outbox = try await Outbox(
                postgres: database.address, clock: files.clock, patience: .seconds(300), key: files.outboxKey)
            try await files.expectWhole(outbox)
        }
    }
}

/// The contents of a version's folder, and how they were created.
struct CompatibilityFiles {
    static let root = Checkout.folder.appending(path: "Tests/Data/Compatibility")
    static let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []).sorted()

    let folder: URL
    let keyring: Keyring
    static let topic: Topic = "com.example.app"
    /// The time at which everything was created; files are always read at this time, too.
    static let now = Timestamp(clamping: 1_795_000_000)
    private static let start = now.advanced(bySeconds: -7_200)

    init(_ folder: URL) {
        self.folder = folder
        keyring = Keyring(folder: folder.appending(path: "Keys"))
    }

    subscript(name: String) -> URL { folder.appending(path: name) }

    var sender: SenderPrivateKey { get throws { try keyring.senderKey(named: "newsroom") } }
    var passphrase: KeyringSecret { .passphrase(Passphrase(Array("walnut-lantern-compass".utf8))!) }

    var outboxKey: OutboxKey {
        get throws { try OutboxKey(parsing: Array(Data(contentsOf: self["outbox.key"]))) }
    }

    /// A clock that stands still, except for tasks that sleep.
    var clock: OutboxClock {
        OutboxClock(now: { Self.now.secondsSince1970 * 1_000 }, sleep: { _ in await Task.yield() })
    }

    // MARK: The phone

    private func configuration(_ policy: KeyPolicy) throws -> ServiceConfiguration {
        let (items, container) = (FileSecretItems(in: self["Phone/keychain"]), self["Phone"])
        var configuration = ServiceConfiguration(
            topic: Self.topic, keys: .items(items), trusting: [try sender.sender],
            authorities: senderSet.map { [$0.authority] } ?? [],
            safeDefault: SafeDefault(title: "App", body: "local default"),
            container: .folder(container), allowsAnonymous: true, keyPolicy: policy)
        configuration.environment = DeviceEnvironment(
            keychain: { _ in items }, appGroup: { _ in container }, now: { Self.now })
        return configuration
    }

    var senderSet: SenderSet? {
        (try? Checkout.text(self["senders.txt"])).flatMap { try? SenderSet(parsing: $0) }
    }

    func app(_ policy: KeyPolicy) throws -> OwnDevice {
        let configuration = try configuration(policy)
        return OwnDevice(configuration, environment: configuration.environment)
    }

    /// Opens a payload as the app does, with the ledger.
    func open(_ name: String, as identifier: String) async -> Result<OpenedContent, OpenError> {
        do {
            let field = try envelope(name).text
            guard name != "withdrawal-background" else {
                let withdrawn = try await configuration(.hybrid).withdraw(envelope: field)
                return .success(try #require(withdrawn))
            }
            return .success(try await configuration(.hybrid).open(envelope: field, requestIdentifier: identifier))
        } catch { return .failure(error as? OpenError ?? .outOfTime) }
    }

    func envelope(_ name: String) throws -> Envelope {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: self["Payloads/\(name).apns"]))
        return try Envelope(parsing: (object as? [String: Any])?[Envelope.fieldName] as? String ?? "")
    }

    var payloadNames: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: self["Payloads"].path)
                .map { String($0.dropLast(".apns".count)) }
        }
    }

    /// Renews the ledger's file of origin, whose text contains the inode.
    func renewOrigin() throws {
        let ledger = self["Phone/SealedPush/ledger"]
        let names = try FileManager.default.contentsOfDirectory(atPath: ledger.path)
        let name = try #require(names.first { $0.hasPrefix("origin.") && $0 != "origin.text" })
        let text = "\(name) \(try FileOrigin.text(of: ledger.appending(path: name)))"
        try Data(text.utf8).write(to: ledger.appending(path: "origin.text"))
    }

    /// Texts by name, one per line.
    var texts: [String: String] {
        get throws {
            let lines = try Checkout.text(self["texts.txt"]).split(separator: "\n")
            return Dictionary(
                uniqueKeysWithValues: lines.compactMap { line in
                    let words = line.split(separator: " ").map(String.init)
                    return words.count == 2 ? (words[0], words[1]) : nil
                })
        }
    }

    // MARK: Creating the files

    func make() async throws {
        try FileManager.default.createDirectory(at: self["Payloads"], withIntermediateDirectories: true)
        try makeKeyrings()
        let app = try app(.classical)
        let older = try app.enroll(at: Self.start)
        var device = try EnrolledDevice(pinning: older, topic: Self.topic, at: Self.start)
        try prove(&device, at: Self.start)
        let classical = try device.recipient(at: Self.start)
        let hybridApp = try self.app(.hybrid)
        try hybridApp.accept(senderSet: #require(senderSet).description, at: Self.start)
        try device.accept(try hybridApp.maintain(at: Self.start).record, at: Self.start)
        try prove(&device, at: Self.start)
        try makePayloads(classical: classical, hybrid: device.recipient(at: Self.start))
        _ = try await open("opened", as: "earlier").get()
        try device.accept(try hybridApp.maintain(at: Self.now).record, at: Self.now)
        try makeTexts(older, &device, hybridApp)
        let key = OutboxKey()
        try key.withSecretText { try Data($0).write(to: self["outbox.key"]) }
        let outbox = try Outbox(at: self["outbox.sqlite"].path, clock: clock, key: key)
        try await fill(outbox, device)
        try await outbox.checkpoint()
        let database = try await PostgresServer.shared.value.database()
        try await fill(
            try await Outbox(postgres: database.address, clock: clock, patience: .seconds(300), key: key), device)
        let dump = try Program(at: "/usr/bin/pg_dump").run(
            "--inserts", "--no-owner", "--no-privileges", "--schema", "sealed_push", database.address)
        try #require(dump.status == 0, "\(dump.errors)")
        // Some lines are for psql, or for a server of the same version.
        let lines = dump.output.split(separator: "\n").filter { line in
            !["\\", "--", "SET transaction_timeout"].contains { line.hasPrefix($0) }
        }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: self["outbox.sql"])
    }

    private func makeKeyrings() throws {
        let (now, start) = (Self.now, Self.start)
        try keyring.generateSender(named: "newsroom", at: start)
        try keyring.generateAuthority(named: "authority", at: start)
        try keyring.generateDevice(named: "old-phone", topic: Self.topic, at: start)
        try keyring.generateDevice(named: "new-phone", topic: Self.topic, policy: .hybrid, at: start)
        let record = try DeviceRecord(
            of: [DevicePrivateKey(.hybrid).recipient], topic: Self.topic, counter: 1, created: start,
            expires: now.advanced(bySeconds: 400 * 86_400), signedBy: EnrollmentPrivateKey())
        try keyring.add(record, named: "their-phone", at: start)
        let set = try keyring.signSenderSet(
            of: [sender.sender], topic: Self.topic, by: "authority", lifetime: 90 * 86_400, at: start)
        try Data(set.description.utf8).write(to: self["senders.txt"])
        try Data(keyring.backup(under: passphrase, at: now)).write(to: self["keyring.backup"])
        try FileManager.default.copyItem(at: keyring.folder, to: self["Sealed"])
        try Keyring(folder: self["Sealed"]).seal(with: passphrase, at: now)
    }

    private func prove(_ device: inout EnrolledDevice, at now: Timestamp) throws {
        for recipient in device.unproven {
            let challenge = PendingChallenge(
                to: recipient, of: device.enrollment, topic: Self.topic, from: try sender, at: now)
            try device.prove(challenge, answer: app(.hybrid).answer(challenge: challenge.text, at: now), at: now)
        }
    }

    static let allMembers = """
        {"alert":{"title":"Nina","subtitle":"{{name}}","body":"Lunch at one?"},"badge-add":2,"thread-id":"nina",\
        "sound":{"critical":1,"name":"bell","volume":0.5},"category":"chat","interruption-level":"time-sensitive",\
        "relevance-score":0.5,"collapse-id":"lunch","template":true,"data":{"room":[1,null,"a"]},"own":true,\
        "person":{"name":"Nina","id":"person-1"},"chart":{"kind":"line","points":[1,2,3]},\
        "attachments":[{"id":"a","url":"https://files.example.com/a","type":"image/png","size":141,\
        "hash":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","key":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}
        """

    private func makePayloads(classical: VerifiedRecipient, hybrid: VerifiedRecipient) throws {
        let receipts = try #require(ReceiptAddress(parsing: "https://push.example.com/receipts"))
        let sealer = Sealer(sender: try sender, topic: Self.topic, safeDefault: "You have a new message!")
        let asking = Sealer(
            sender: try sender, topic: Self.topic, safeDefault: "You have a new message!", receipts: receipts)
        let anonymous = Sealer(anonymousFor: Self.topic, safeDefault: "You have a new message!")
        let text = Content(title: "Nina", body: "Lunch at one?")
        let full = try Content(parsing: Array(Self.allMembers.utf8))
        let contents: [(String, Content, Sealer, VerifiedRecipient)] = [
            ("classical", text, sealer, classical), ("hybrid", text, sealer, hybrid),
            ("anonymous", text, anonymous, classical), ("opened", text, sealer, hybrid),
            ("all-members", full, asking, classical), ("all-members-hybrid", full, asking, hybrid),
            ("withdrawal-background", Content(withdrawing: .thread("nina"), isFiltered: false), sealer, hybrid),
            ("withdrawal-filtered", Content(withdrawing: .thread("nina"), isFiltered: true), sealer, classical),
            ("receipt", text, asking, hybrid),
        ]
        for (name, content, sealer, recipient) in contents {
            var content = content
            content.sent = Self.now
            try Data(sealer.seal(content, to: recipient).json).write(to: self["Payloads/\(name).apns"])
        }
    }

    private func makeTexts(_ older: DeviceRecord, _ device: inout EnrolledDevice, _ app: OwnDevice) throws {
        let now = Self.now
        let challenge = PendingChallenge(
            to: device.record.recipients[0], of: device.enrollment, topic: Self.topic, from: try sender, at: now)
        let receipts = ReceivedReceipts(try sender)
        let texts = [
            ("older-record", older.description), ("record", device.record.description),
            ("challenge", challenge.text), ("pending", challenge.storedText),
            ("answer", try app.answer(challenge: challenge.text, at: now)),
            ("leaving", try leaving().description),
            ("receipt", Hex.encode(receipts.bytes("a", failures: [.rejected: 2], at: now))),
        ]
        try Data(texts.map { "\($0.0) \($0.1)\n" }.joined().utf8).write(to: self["texts.txt"])
    }

    /// Returns the leaving of a copy of the phone that revokes its keys.
    private func leaving() throws -> Leaving {
        let copy = try TemporaryFolder()
        let files = CompatibilityFiles(copy.url)
        for name in ["Phone", "Keys"] { try FileManager.default.copyItem(at: self[name], to: files[name]) }
        return try files.app(.hybrid).leaveAccount(at: Self.now)
    }

    private func fill(_ outbox: Outbox, _ device: EnrolledDevice) async throws {
        func add(_ name: DeviceName, _ keys: RegisteredKeys) async throws {
            try await outbox.register(
                RegisteredDevice(
                    name: name, user: "anna", topic: Self.topic, keys: keys,
                    address: .active(Fixture.address(name.description), registered: Self.now)))
        }
        try await add("enrolled", .enrolled(device))
        try await add("refused", .unverified(DevicePrivateKey().recipient))
        try await enqueue("first", outbox)
        let transport = ScriptedTransport { request, _ in
            request.address == Fixture.address("refused") ? .apns(400, "BadDeviceToken") : .apns(503, nil)
        }
        try await deliver(transport, outbox)
        try await enqueue("second", outbox)
        try await outbox.count(ReceivedReceipts(try sender).receipt("a", failures: [.expired: 1], at: Self.now))
    }

    private func deliver(_ transport: ScriptedTransport, _ outbox: Outbox) async throws {
        _ = try await Courier(for: outbox, through: transport, carrier: .apns(), limits: Fixture.limits())
            .run(until: .nothingDue(within: .zero))
    }

    @discardableResult private func enqueue(_ text: String, _ outbox: Outbox) async throws -> EnqueueReport {
        let sealer = Sealer(sender: try sender, topic: Self.topic, safeDefault: "You have a new message!")
        var content = Content(body: text)
        content.sent = Self.now
        return try await outbox.enqueue(
            OutgoingMessage(content, key: IdempotencyKey(text)), to: .everyone, from: sealer, includingUnverified: true)
    }

    // MARK: Reading an outbox

    func expectWhole(_ outbox: Outbox) async throws {
        let devices = try await outbox.devices()
        #expect(devices.map(\.name.description) == ["enrolled", "refused"])
        let record = try DeviceRecord(parsing: try texts["record"] ?? "")
        guard case .enrolled(let enrolled)? = devices.first?.keys else { throw OutboxError.damaged }
        #expect(enrolled.record == record && enrolled.proven == [record.recipients[0]])
        var status = try await outbox.status()
        #expect(status.waitingCount == 2 && status.deadLetters == ["BadDeviceToken": 1])
        #expect(try await outbox.receipts(days: 30).total.failures == ["expired": 1])
        // A used key is still known.
        #expect(try await enqueue("first", outbox).alreadyEnqueuedCount == 2)
        try await enqueue("third", outbox)
        try await outbox.retryNow()
        let transport = ScriptedTransport()
        try await deliver(transport, outbox)
        status = try await outbox.status()
        #expect(status.waitingCount == 0)
        let opener = Opener(
            topic: Self.topic, keys: PushService.DeviceKeys(FileSecretItems(in: self["Phone/keychain"])),
            trusting: [try sender.sender])
        let bodies = try transport.delivered.all.map { request in
            let object = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
            let envelope = try Envelope(parsing: object?[Envelope.fieldName] as? String ?? "")
            return try opener.open(envelope, at: Self.now).content.alert.body
        }
        #expect(bodies == ["first", "second", "third"])
    }
}
