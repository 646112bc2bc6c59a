import Dispatch
import Foundation
import Interposed
import PushApp
import PushCore
import PushSender
import PushService
import PushServiceTesting
import SealedPush
import UserNotifications

/// A phone with the shipped extension and the app's object, both in this process. Its keychain is in memory, and its files are
/// real ones in memory.
final class Phone: @unchecked Sendable {
    let number: Int
    let world: World
    let folder: URL
    /// Who is logged in, as the person sees it.
    var person: Int?
    /// The accounts whose messages may be shown: until a logout has destroyed the keys, also the one that is left.
    var accounts: Set<Int> = []
    var lastTap: Task<Void, Never>?
    /// The keys that people expect to lose: those that were there when they last left an account, or revoked them.
    private var expendable: Set<String> = []
    private var hasRevoked = false
    /// The keys that this phone gave up for such a reason, or because they had been retired for long enough.
    private var givenUp: [DevicePublicKey] = []
    private var backup: (items: [SecretItem], saved: Data?)?
    let keychain = InMemorySecretItems()
    let saved = SavedInMemory()
    let center = UNUserNotificationCenter()
    private(set) var token: [UInt8] = []
    private(set) var isOnline = true
    var killsExtension: Int64?
    var isDiskFull = false
    /// The app's process.
    private(set) var process: AppProcess
    private(set) var pushes: SealedPushes! = nil
    /// While someone logs in or out, the app may set the badge to 0.
    var mayResetBadge = false
    /// Pushes that Apple keeps while the phone is offline, the oldest first.
    private var kept: [(request: PushRequest, token: [UInt8])] = []
    /// What arrived in the last half minute. Apple may bring it again if the power fails.
    private var recent: [(request: PushRequest, uptime: Int64)] = []

    init(_ number: Int, in world: World) throws {
        (self.number, self.world) = (number, world)
        folder = world.folder.appending(path: "phone-\(number)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        process = AppProcess()
        replaceToken()
    }

    // MARK: The app

    /// Starts the app's process anew.
    @MainActor func start() {
        process.isDead = true
        process = AppProcess()
        let pushes = SealedPushes(
            app(in: process), server: URL(string: "https://push.example.com"), environment: .production,
            storage: saved.in(process)
        ) { "Bearer \($0)" }
        let process = process
        pushes.system.register = { [self, weak pushes] in
            guard isOnline else { return }
            Task {
                await world.sleep(upTo: 1_000)
                if !process.isDead { await pushes?.took(token: Data(token)) }
            }
        }
        self.pushes = pushes
    }

    /// Lets go of the app's object, which owns this phone.
    func end() { (pushes, lastTap) = (nil, nil) }

    func app(in process: AppProcess?) -> ServiceConfiguration {
        let items: any SecretItems = process.map { AppItems(phone: self, process: $0) } ?? keychain
        let (folder, world) = (folder, world)
        nonisolated(unsafe) let center = center
        var app = ServiceConfiguration(
            topic: World.topic, keys: .items(items), trusting: [world.firstSender],
            authorities: [world.authority.authority],
            safeDefault: SafeDefault(title: "App", body: "Safe default"), container: .appGroup("group"),
            keyPolicy: world.plan.configuration.isHybrid ? .hybrid : .classical,
            keepsRetiredKeys: world.plan.configuration.keepsRetiredKeys)
        app.environment = DeviceEnvironment(
            keychain: { _ in items }, appGroup: { _ in process?.isDead == true ? nil : folder },
            scratchRoot: folder.appending(path: "tmp"), fetcher: PhoneNetwork(self, process, in: world))
        // A process that was killed changes nothing.
        app.environment.center = { process?.isDead == true ? UNUserNotificationCenter() : center }
        return app
    }

    /// The keys that can open messages.
    var recipients: Set<String> {
        Set(keychain.list().map(\.account).filter { $0.hasPrefix("pushrecipient") || $0.hasPrefix("key ") })
    }

    /// Whether a key that may still open messages matches the envelope.
    func canOpen(_ envelope: Envelope?) -> Bool {
        keychain.list().compactMap { StoredKey($0) }
            .contains { key in key.life.opens && envelope?.matches(key.recipient) ?? false }
    }

    /// Someone leaves an account or revokes the keys, which destroys those that are there, now or when the app is next launched.
    func expectToLoseKeys(byRevoking isRevoked: Bool = false) {
        expendable = recipients
        hasRevoked = hasRevoked || isRevoked
    }

    fileprivate func willRemove(_ account: String) {
        let item = keychain.list().first { $0.account == account }
        if let key = item.flatMap({ StoredKey($0) }), mayGiveUp(key) { givenUp.append(key.recipient) }
    }

    private func mayGiveUp(_ key: StoredKey) -> Bool {
        if expendable.contains(key.item.account) || saved.isLeaving { return true }
        if key.life.revoked != nil, hasRevoked { return true }
        let days = Int64(world.plan.configuration.keepsRetiredKeys)
        return key.life.retired.map { Timestamp.now().seconds(since: $0) >= days * 86_400 } ?? false
    }

    /// Whether the key that the envelope needs was here, and is gone for a reason that people know.
    func hasGivenUpKey(of envelope: Envelope?) -> Bool {
        guard let envelope, !canOpen(envelope) else { return false }
        let useless = keychain.list().compactMap { StoredKey($0) }.filter { !$0.life.opens && mayGiveUp($0) }
        return (givenUp + useless.map(\.recipient)).contains { envelope.matches($0) }
    }

    /// The badge's count in its file.
    var badgeOnDisk: Int {
        let file = folder.appending(path: "SealedPush/badge/count").path(percentEncoded: false)
        return (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0
    }

    /// The time at or before which the ledger refuses messages.
    var floor: Timestamp {
        let ledger = folder.appending(path: "SealedPush/ledger").path(percentEncoded: false)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ledger)) ?? []
        let floors = names.filter { $0.hasPrefix("floor.") }.compactMap { Int64($0.dropFirst("floor.".count)) }
        return floors.max().flatMap { Timestamp(secondsSince1970: $0) } ?? .now()
    }

    /// Whether a message from this sender may be shown: by the newest set in the keychain, if it hasn't ended, or else by the
    /// app's built-in sender.
    func trusts(_ sender: String) -> Bool {
        let counters = keychain.list().compactMap { item -> Int? in
            guard item.account.hasPrefix("senders ") else { return nil }
            return item.account.split(separator: " ").last.flatMap { Int($0) }
        }
        guard let newest = counters.max() else { return sender == world.firstSender.description }
        let set = world.sendersOfSet[newest]
        return set.expires > .now() && set.senders.contains(sender)
    }

    func connect(_ isOnline: Bool) {
        self.isOnline = isOnline
        guard isOnline else { return }
        let kept = kept
        self.kept = []
        for (request, token) in kept { bring(request, token: token, after: 1_000) }
    }

    func replaceToken() {
        if !token.isEmpty { world.tokens[token] = (number, .now()) }
        token = SecureRandom.bytes(count: 32)
        world.tokens[token] = (number, nil)
    }

    /// Loses the container, as when the app is deleted and installed again. The keychain stays.
    func loseContainer() {
        process.isDead = true
        try? FileManager.default.removeItem(at: folder)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        center.removeAllDeliveredNotifications()
        world.oracle.lostContainer(number)
    }

    func losePower(percent: Int) {
        process.isDead = true
        let count = world_lose_power(folder.path(percentEncoded: false), UInt64(percent) << 32 / 100)
        world.log("phone \(number) lost \(count) changes of files")
        if count > 0 { world.oracle.lostCount(on: self) }
        for (request, uptime) in recent where world_uptime - uptime < 30_000_000_000 {
            bring(request, token: request.address.bytes, after: 1_000)
        }
    }

    /// Keeps what a backup contains.
    func backUp() { backup = (keychain.items(), saved.content) }

    /// Restores the backup, unless somebody else has logged in since: then the server knows this phone as theirs.
    func restore() {
        guard let backup, let session = saved.session,
            world.user(of: session) == world.user(of: SavedInMemory.session(in: backup.saved))
        else { return }
        loseContainer()
        // The keys since the backup are lost.
        givenUp += keychain.list().compactMap { StoredKey($0)?.recipient }
        for item in keychain.list() { try? keychain.remove(account: item.account) }
        for item in backup.items { try? keychain.add(item) }
        saved.content = backup.saved
        launch()
    }

    // MARK: Pushes

    /// Brings a push from Apple, or has Apple keep it.
    func bring(_ request: PushRequest, token: [UInt8], after milliseconds: Int) {
        Task.detached { [self] in
            await world.sleep(upTo: milliseconds)
            guard world.tokens[token]?.end == nil else { return world.oracle.lost(request, "its token was replaced") }
            guard isOnline else { return keep(request, token) }
            receive(request)
        }
    }

    private func keep(_ request: PushRequest, _ token: [UInt8]) {
        if request.expiration?.secondsSince1970 == 0 { return world.oracle.lost(request, "the phone was offline") }
        var replaced = kept.filter { $0.request.collapseID == request.collapseID }
        if world.plan.configuration.keepsOnlyNewest { replaced = kept }
        for other in replaced where other.request.apnsID != request.apnsID {
            world.oracle.lost(other.request, "Apple kept only a newer one")
        }
        kept.removeAll { other in replaced.contains { $0.request.apnsID == other.request.apnsID } }
        kept.append((request, token))
    }

    private func receive(_ request: PushRequest) {
        recent.removeAll { world_uptime - $0.uptime > 30_000_000_000 }
        recent.append((request, world_uptime))
        if let expiration = request.expiration, expiration < .now(), expiration.secondsSince1970 != 0 {
            return world.oracle.lost(request, "it expired at Apple")
        }
        guard let object = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any],
            let aps = object["aps"] as? [String: Any]
        else { return world.oracle.fail("a push is a JSON object with `aps`", request) }
        if request.isBackground {
            wakeApp(request, object[Envelope.fieldName] as? String ?? "")
        } else {
            runExtension(request, object, aps)
        }
    }

    /// iOS starts the extension, and blocks nothing else of this world until it is done.
    private func runExtension(_ request: PushRequest, _ object: [String: Any], _ aps: [String: Any]) {
        let wire = UNMutableNotificationContent()
        wire.body = "WIRE"
        wire.sound = .default
        wire.userInfo = object
        let service = Extension(app(in: nil))
        service.environment = service.configuration.environment
        let identifier = request.collapseID
        beginProcess()
        let (answer, answerCount) = Stopwatch.measure(.extensions) {
            answers(of: service, to: UNNotificationRequest(identifier: identifier, content: wire, trigger: nil))
        }
        let ending = endProcess()
        if answerCount != 1 { world.oracle.fail("the handler is called once", request) }
        let isKilled = ending == .killed
        let shown = isKilled ? wire : answer ?? wire
        let wasThere = center.notifications.contains { $0.request.identifier == identifier }
        center.deliver(
            UNNotification(
                request: UNNotificationRequest(identifier: identifier, content: shown, trigger: nil), date: Date()))
        Stopwatch.measure(.oracle) {
            world.oracle.showed(shown, for: request, on: self, ending, wasThere: wasThere)
        }
    }

    /// Returns the extension's last answer, and how often it answered.
    private func answers(of service: Extension, to request: UNNotificationRequest) -> (UNNotificationContent?, Int) {
        let answered = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var answer: UNNotificationContent?
        nonisolated(unsafe) var answerCount = 0
        service.didReceive(request) { content in
            nonisolated(unsafe) let content = content
            answer = content
            answerCount += 1
            answered.signal()
        }
        answered.wait()
        service.tidying.wait()
        return (answer, answerCount)
    }

    /// iOS starts the app in the background. It may also not.
    private func wakeApp(_ request: PushRequest, _ field: String) {
        let app = app(in: nil)
        Task.detached { [self] in
            let result: Result<OpenedContent?, OpenError>
            do throws(OpenError) { result = .success(try await app.withdraw(envelope: field)) } catch {
                result = .failure(error)
            }
            world.oracle.withdrew(result, for: request, on: self)
        }
    }

    enum Ending {
        case finished
        case diskFailed
        case killed
    }

    private func beginProcess() {
        world_disk_failed = 0
        world_disk = isDiskFull ? world_disk_full : world_disk_works
        if let count = killsExtension {
            world_disk = world_disk_kills
            world_calls_left = count
        }
    }

    private func endProcess() -> Ending {
        defer {
            if world_disk_failed != 0 { killsExtension = nil }
            world_disk = world_disk_works
        }
        guard world_disk_failed != 0 else { return .finished }
        return world_disk == world_disk_kills ? .killed : .diskFailed
    }
}

/// The shipped extension, with the configuration of this phone.
private final class Extension: SealedNotificationService {
    private let fixed: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) { fixed = configuration }

    override var configuration: ServiceConfiguration { fixed }
}

/// One life of the app's process.
final class AppProcess: @unchecked Sendable {
    var isDead = false
    /// After this many changes, the process is killed.
    var changesLeft = Int.max

    /// Whether the process is still alive to make a change.
    func mayChange() -> Bool {
        if changesLeft <= 0 { isDead = true }
        changesLeft -= 1
        return !isDead
    }
}

/// The keychain, as the app sees it. It's killed at a change.
private struct AppItems: SecretItems {
    let phone: Phone
    let process: AppProcess
    private var items: InMemorySecretItems { phone.keychain }

    private func require(_ isAlive: Bool) throws(SecretItemError) { if !isAlive { throw .other(-1) } }

    func list() throws(SecretItemError) -> [ListedItem] {
        try require(!process.isDead)
        return items.list()
    }
    func secret(account: String) throws(SecretItemError) -> ItemSecret {
        try require(!process.isDead)
        return try items.secret(account: account)
    }
    func add(_ item: SecretItem) throws(SecretItemError) {
        try require(process.mayChange())
        try items.add(item)
    }
    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try require(process.mayChange())
        try items.replace(item, attributes: attributes)
    }
    func remove(account: String) throws(SecretItemError) {
        try require(process.mayChange())
        phone.willRemove(account)
        try items.remove(account: account)
    }
}

/// The app's own state in the keychain.
final class SavedInMemory: Sendable {
    private let data = Locked<Data?>(nil)

    /// The session of the account that the app is logged in to.
    var session: String? { Self.session(in: content) }

    /// Whether a logout isn't finished.
    var isLeaving: Bool { Self.saved(in: content)?.leaving != nil }

    static func session(in data: Data?) -> String? { saved(in: data)?.session }

    private static func saved(in data: Data?) -> Saved? {
        data.flatMap { try? JSONDecoder().decode(Saved.self, from: $0) }
    }

    var content: Data? {
        get { data.withLock { $0 } }
        set { data.withLock { $0 = newValue } }
    }

    func `in`(_ process: AppProcess) -> any PushStorage { Item(saved: self, process: process) }

    private struct Item: PushStorage {
        let saved: SavedInMemory
        let process: AppProcess

        func read() throws -> Data? {
            guard !process.isDead else { throw CocoaError(.fileReadNoPermission) }
            return saved.content
        }

        func write(_ data: Data) -> Bool {
            guard process.mayChange() else { return false }
            saved.content = data
            return true
        }
    }
}

/// A phone's way to the server.
private struct PhoneNetwork: Fetching {
    private let phone: Phone
    private let process: AppProcess?
    private let world: World

    init(_ phone: Phone, _ process: AppProcess?, in world: World) {
        (self.phone, self.process, self.world) = (phone, process, world)
    }

    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        let weather = world.weather
        await world.sleep(upTo: weather.milliseconds)
        guard phone.isOnline, process?.isDead != true, !world.chance(weather.losesRequests) else { throw .network }
        var answer = await world.serve(request, from: phone)
        // A proxy may have repeated it.
        if request.method != "PUT", world.chance(weather.repeats) { answer = await world.serve(request, from: phone) }
        await world.sleep(upTo: weather.milliseconds)
        guard let (status, body) = answer, phone.isOnline, process?.isDead != true,
            !world.chance(weather.losesAnswers)
        else { throw .network }
        let head = FetchAnswer(status: status) { _ in nil }
        guard try request.wantsBody(head) else { return head }
        let taken = body.withUnsafeBytes { bytes in Result { () throws(MediaError) in try request.take(bytes) } }
        try taken.get()
        return head
    }
}
