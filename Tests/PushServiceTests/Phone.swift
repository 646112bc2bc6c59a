import Dispatch
import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import UserNotifications

@testable import PushService

/// A device whose keychain belongs to the test, and the server that seals for it.
struct Phone {
    let memory: InMemorySecretItems
    /// The items that the device gets instead.
    private(set) var items: any SecretItems
    let folder: TemporaryFolder
    let sender: SenderPrivateKey
    let authority: AuthorityPrivateKey
    var keyPolicy = KeyPolicy.classical
    var keepsRetiredKeys = 30
    static let topic: Topic = "com.example.app"
    /// The time at which everything begins.
    static let start = Timestamp(clamping: 1_800_000_000)

    init(_ items: [SecretItem] = []) throws {
        memory = InMemorySecretItems(items)
        self.items = memory
        folder = try TemporaryFolder()
        sender = SenderPrivateKey()
        authority = AuthorityPrivateKey()
    }

    /// Returns the same device, called in another way.
    func with(_ watch: WatchedItems.Watch) -> Phone { with(WatchedItems(memory, watch)) }

    func with(_ items: any SecretItems) -> Phone {
        var phone = self
        phone.items = items
        return phone
    }

    /// Returns the same device with another version of its app.
    func making(_ policy: KeyPolicy, keeping days: Int = 30) -> Phone {
        var phone = self
        (phone.keyPolicy, phone.keepsRetiredKeys) = (policy, days)
        return phone
    }

    var configuration: ServiceConfiguration {
        ServiceConfiguration(
            topic: Self.topic, keys: .items(items), trusting: [sender.sender],
            authorities: [authority.authority], safeDefault: SafeDefault(title: "App", body: "local default"),
            container: .folder(folder.url), keyPolicy: keyPolicy, keepsRetiredKeys: keepsRetiredKeys)
    }

    var device: OwnDevice { OwnDevice(configuration, environment: .system) }
    private var root: URL { folder.appending("SealedPush") }
    var markers: ConfirmationMarkers { ConfirmationMarkers(in: root) }
    var ledger: FileLedger { FileLedger(folder: root.appending(path: "ledger")) }

    /// The stored items, whatever the device sees.
    var stored: StoredItems { get throws { StoredItems(try items.list()) } }

    func seal(to recipient: DevicePublicKey, sent: Timestamp, from other: SenderPrivateKey? = nil) throws -> Envelope {
        var content = Content(body: "b")
        content.sent = sent
        return try Sealer(sender: other ?? sender, topic: Self.topic, safeDefault: "wire default")
            .seal(content, toUnverified: recipient).envelope
    }

    /// Opens an envelope as the extension does, without a ledger.
    func open(_ envelope: Envelope, at now: Timestamp) throws(OpenError) -> OpenedContent {
        try Opener(topic: Self.topic, keys: DeviceKeys(items), trusting: configuration.trusted).open(envelope, at: now)
    }

    func senderSet(
        _ counter: UInt64, of senders: [SenderPrivateKey], by key: AuthorityPrivateKey? = nil, at now: Timestamp = start
    ) throws -> SenderSet {
        try SenderSet(
            of: senders.map(\.sender), topic: Self.topic, counter: counter, created: now,
            expires: now.advanced(bySeconds: 90 * 86_400), signedBy: key ?? authority)
    }
}

/// Items that let a test act at each call: fail it, or behave like another process.
final class WatchedItems: SecretItems {
    private let inner: InMemorySecretItems
    private let state: Locked<State>

    struct State {
        var callCount = 0
        var writeCount = 0
        /// The accounts of the secrets that were read.
        var secretCount = 0
    }

    enum Call { case list, secret, write }

    /// Runs at each call; the number counts from 0.
    struct Watch: Sendable {
        var beforeCall: @Sendable (Int, Call) throws(SecretItemError) -> Void = { _, _ in }
        /// Returns the items to list instead of these.
        var listed: @Sendable (Int, [ListedItem]) -> [ListedItem] = { $1 }
        var beforeWrite: @Sendable (Int) throws(SecretItemError) -> Void = { _ in }
        var afterWrite: @Sendable (Int) throws(SecretItemError) -> Void = { _ in }

        /// Makes every call fail.
        static func failing(_ error: SecretItemError) -> Watch {
            Watch(beforeCall: { _, _ throws(SecretItemError) in throw error })
        }
    }

    private let watch: Watch

    init(_ items: InMemorySecretItems, _ watch: Watch = Watch()) {
        inner = items
        self.watch = watch
        state = Locked(State())
    }

    var counts: State { state.withLock { $0 } }

    func list() throws(SecretItemError) -> [ListedItem] {
        watch.listed(try count(.list), inner.list())
    }

    func secret(account: String) throws(SecretItemError) -> ItemSecret {
        try count(.secret)
        state.withLock { $0.secretCount += 1 }
        return try inner.secret(account: account)
    }

    func add(_ item: SecretItem) throws(SecretItemError) {
        try write { () throws(SecretItemError) in try inner.add(item) }
    }

    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try write { () throws(SecretItemError) in try inner.replace(item, attributes: attributes) }
    }

    func remove(account: String) throws(SecretItemError) {
        try write { () throws(SecretItemError) in try inner.remove(account: account) }
    }

    @discardableResult private func count(_ call: Call) throws(SecretItemError) -> Int {
        let number = state.withLock { state in
            state.callCount += 1
            return state.callCount - 1
        }
        try watch.beforeCall(number, call)
        return number
    }

    private func write(_ body: () throws(SecretItemError) -> Void) throws(SecretItemError) {
        try count(.write)
        let number = state.withLock { state in
            state.writeCount += 1
            return state.writeCount - 1
        }
        try watch.beforeWrite(number)
        try body()
        try watch.afterWrite(number)
    }
}

/// A sender, a phone, and a server that seals, with which a test of the service module begins.
struct Fixture {
    let sender = SenderPrivateKey()
    let phone = DevicePrivateKey()
    let folder: TemporaryFolder
    let now = Timestamp.now()
    /// A budget as in a process of its own.
    let budget = WorkBudget()
    static let topic: Topic = "com.example.app"

    init(hasLedger: Bool = true) throws {
        folder = try TemporaryFolder()
        if hasLedger { try ledger.begin(floor: now.advanced(bySeconds: -60), asksForNewKey: false) }
    }

    var sealer: Sealer { Sealer(sender: sender, topic: Self.topic, safeDefault: "wire default") }

    var keys: InMemorySecretItems {
        InMemorySecretItems([StoredKey.item(phone, life: KeyLife(created: now, confirmed: now))])
    }

    func configuration(
        keys: (any SecretItems)? = nil, trusting senders: [SenderPublicKey]? = nil, allowsAnonymous: Bool = false,
        receivesPlainPushes: Bool = false, stages: [any ServiceStage] = []
    ) -> ServiceConfiguration {
        ServiceConfiguration(
            topic: Self.topic, keys: .items(keys ?? self.keys), trusting: senders ?? [sender.sender],
            safeDefault: SafeDefault(title: "App", body: "local default"), container: .folder(folder.url),
            allowsAnonymous: allowsAnonymous, receivesPlainPushes: receivesPlainPushes, stages: stages)
    }

    /// The folder in which stages make their files.
    var scratchRoot: URL { folder.appending("tmp") }

    func environment(
        _ fetcher: any Fetching = Loader.standard.fetcher, now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) -> DeviceEnvironment {
        let keys = keys
        let container = folder.url
        return DeviceEnvironment(
            keychain: { _ in keys }, appGroup: { _ in container }, scratchRoot: scratchRoot, fetcher: fetcher,
            budget: budget, now: now)
    }

    /// The service module's own folder.
    var root: URL { folder.appending("SealedPush") }
    var ledger: FileLedger { FileLedger(in: root) }
    var log: [ServiceLog.Entry] { ServiceLog(folder: root).entries() }

    func seal(_ content: Content = Content(title: "Nina", body: "Lunch at one?")) throws -> String {
        try sealer.seal(content, toUnverified: phone.recipient).envelope.text
    }

    /// Handles one push, from its arrival until all work is done.
    @discardableResult func show(
        _ field: Any?, identifier: String = UUID().uuidString, stages: [any ServiceStage] = [],
        by configuration: ServiceConfiguration? = nil, environment: DeviceEnvironment? = nil,
        expiringAfter expiry: Duration? = nil
    ) async -> UNNotificationContent {
        let service = TestedService(configuration ?? self.configuration(stages: stages))
        service.environment = environment ?? self.environment()
        if let expiry {
            // On another thread, as iOS does it.
            nonisolated(unsafe) let service = service
            DispatchQueue(label: "expiry").asyncAfter(deadline: .now() + expiry / .seconds(1)) {
                service.serviceExtensionTimeWillExpire()
            }
        }
        let shown = await receive(Self.request(field: field, identifier: identifier), service)
        await service.tidied()
        return shown
    }

    /// Returns a request as iOS makes it, with an alert, sound, badge, and a carrier's own keys around the field.
    static func request(field: Any?, identifier: String = UUID().uuidString) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = "WIRE"
        content.subtitle = "WIRE"
        content.body = "WIRE"
        content.badge = 99
        content.sound = .defaultCritical
        content.threadIdentifier = "WIRE"
        content.categoryIdentifier = "WIRE"
        content.targetContentIdentifier = "WIRE"
        content.filterCriteria = "WIRE"
        content.launchImageName = "WIRE"
        content.relevanceScore = 0.9
        content.interruptionLevel = .critical
        content.userInfo = [
            "aps": ["alert": "WIRE", "sound": "WIRE"], "WIRE": "WIRE",
            "sealed-push": ["outcome": "opened", "data": "WIRE", "id": "WIRE"],
        ]
        if let field { content.userInfo["custom-encrypted-message"] = field }
        #if canImport(Darwin)
        // Apple's can't be created.
        let trigger: UNNotificationTrigger? = nil
        #else
        let trigger = UNPushNotificationTrigger()
        #endif
        return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }
}

/// The service module with a test's configuration.
final class TestedService: SealedNotificationService {
    private let fixed: ServiceConfiguration

    init(_ configuration: ServiceConfiguration) { fixed = configuration }

    override var configuration: ServiceConfiguration { fixed }
}

/// Calls a service and waits for its handler.
func receive(_ request: UNNotificationRequest, _ service: SealedNotificationService) async -> UNNotificationContent {
    await withCheckedContinuation { continuation in
        service.didReceive(request) { content in
            nonisolated(unsafe) let content = content
            continuation.resume(returning: content)
        }
    }
}

extension SealedNotificationService {
    /// Waits until the cleanup is done, without blocking a thread.
    func tidied() async {
        await withCheckedContinuation { continuation in
            tidying.notify(queue: DispatchQueue(label: "tidied")) { continuation.resume() }
        }
    }
}

/// A ledger that lasts only as long as the process.
final class InMemoryLedger: ReplayLedger {
    private let state: Locked<State>

    private struct State {
        var floor: Timestamp
        var opened: [[UInt8]: LedgerEntry] = [:]
    }

    init(floor: Timestamp) { state = Locked(State(floor: floor)) }

    func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer {
        try state.withLock { (state) throws(LedgerError) in
            guard entry.sent > state.floor else { throw .replayed }
            guard let seen = state.opened[entry.key] else {
                state.opened[entry.key] = entry
                return .first
            }
            guard seen.requestIdentifier == entry.requestIdentifier else { throw .replayed }
            return .repeated
        }
    }

    func purge(at now: Timestamp) {
        state.withLock { state in
            let dropped = state.opened.values.map(\.sent).filter { now.seconds(since: $0) > TimeRules.maximumAge }
            let floor = max(state.floor, dropped.max() ?? state.floor)
            state.floor = floor
            state.opened = state.opened.filter { $0.value.sent > floor }
        }
    }
}
