import Dispatch
public import Foundation
internal import PushCore
internal import PushSender
public import PushService
public import SealedPush
public import UserNotifications

/// A device for tests, on which an app's notification service extension opens messages that the test has sealed.
///
/// ```swift
/// let device = try TestDevice()
/// let shown = try await device.show(Content(title: "Nina", body: "Lunch?"), by: NotificationService())
/// #expect(shown.title == "Nina")
/// ```
///
/// Its keychain and notification center are in memory, and its app group is a temporary folder that is removed with it. It has
/// no network, only the files of ``serve(_:at:)`` and a server of its own for an app's ``launch(_:)``. The app and the extension
/// keep their own configuration; on this device, it also trusts ``sender``.
/// Only for tests: never link this module into an app. Can be used from several tasks.
public final class TestDevice: Sendable {
    /// The key that seals the test's messages.
    public let sender = SenderPrivateKey()
    let list = TestNotificationList()
    let storage: TestStorage
    let state: Locked<State>
    private let items = InMemorySecretItems()
    private let folder = URL.temporaryDirectory.appending(path: "sealed-push-test-\(UUID().uuidString)")

    struct State {
        var now: Timestamp?
        var isLocked = false
        var isOnline = true
        var wantsToken = false
        var files: [URL: Data] = [:]
        var servers: [TestServer] = []
    }

    /// Creates a device. Throws if its folder can't be created.
    public init() throws {
        let state = Locked(State())
        self.state = state
        storage = TestStorage { state.withLock { $0.isLocked } }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The device's clock; nil, the default, for the system's.
    public var now: Timestamp? {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }

    /// Whether the device hasn't been unlocked since it started.
    public var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// Puts a file at a URL, for stages that fetch.
    public func serve(_ file: Data, at url: URL) { state.withLock { $0.files[url] = file } }

    /// Seals a message for this device and an extension's app; returns the payload, as in a push's user info.
    ///
    /// - Throws: `SealError` if the content can't be sealed; `DeviceError` if the extension's configuration isn't usable.
    public func payload(of content: Content, for service: SealedNotificationService) throws -> [AnyHashable: Any] {
        try payload(of: content, for: service.configuration, from: sender)
    }

    /// Seals a message for the account of a configuration.
    func payload(
        of content: Content, for app: ServiceConfiguration, from sender: SenderPrivateKey
    ) throws -> [AnyHashable: Any] {
        let now = now ?? .now()
        let device = OwnDevice(app, environment: environment { false })
        let record = try device.enroll(at: now)
        var content = content
        content.sent = content.sent ?? now
        let sealed = try Sealer(sender: sender, topic: app.topic, safeDefault: "Sealed")
            .seal(content, to: record.recipients[0], keeping: nil)
        return ["aps": ["alert": "Sealed", "mutable-content": 1], Envelope.fieldName: sealed.envelope.text]
    }

    /// Has an extension show a message; returns what the user would see. A repeated `identifier` replaces a notification.
    ///
    /// - Throws: The errors of ``payload(of:for:)``. A message that doesn't open isn't an error: the safe default is shown.
    @discardableResult nonisolated(nonsending) public func show(
        _ content: Content, identifier: String = UUID().uuidString, by service: SealedNotificationService
    ) async throws -> UNNotificationContent {
        await show(try payload(of: content, for: service), identifier: identifier, by: service)
    }

    /// Has an extension show a push with any payload: altered, plain, or delivered twice.
    @discardableResult nonisolated(nonsending) public func show(
        _ payload: [AnyHashable: Any], identifier: String = UUID().uuidString, by service: SealedNotificationService
    ) async -> UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.body = "Sealed"
        content.userInfo = payload
        service.environment = environment
        let request = UNNotificationRequest(identifier: identifier, content: content, trigger: nil)
        let shown = await withCheckedContinuation { continuation in
            service.didReceive(request) { content in
                nonisolated(unsafe) let content = content
                continuation.resume(returning: content)
            }
        }
        await withCheckedContinuation { continuation in
            service.tidying.notify(queue: DispatchQueue(label: "tidied")) { continuation.resume() }
        }
        list.show(UNNotificationRequest(identifier: identifier, content: shown, trigger: nil))
        return shown
    }

    var environment: DeviceEnvironment { environment { [state] in state.withLock { $0.isLocked } } }

    func environment(_ isLocked: @escaping @Sendable () -> Bool) -> DeviceEnvironment {
        let (items, folder, state) = (items, folder, state)
        var environment = DeviceEnvironment(
            keychain: { _ in LockableItems(items: items, isLocked: isLocked) }, appGroup: { _ in folder },
            scratchRoot: folder.appending(path: "tmp"), fetcher: TestNetwork(state: state), budget: WorkBudget(),
            now: { state.withLock { $0.now } ?? .now() })
        environment.senders = [sender.sender]
        environment.onlyContainer = folder
        environment.ownList = list
        return environment
    }
}

/// A keychain that can't be read before the first unlock.
private struct LockableItems: SecretItems {
    let items: InMemorySecretItems
    let isLocked: @Sendable () -> Bool

    private func unlocked() throws(SecretItemError) -> InMemorySecretItems {
        guard !isLocked() else { throw .locked }
        return items
    }

    func list() throws(SecretItemError) -> [ListedItem] { try unlocked().list() }
    func secret(account: String) throws(SecretItemError) -> ItemSecret { try unlocked().secret(account: account) }
    func add(_ item: SecretItem) throws(SecretItemError) { try unlocked().add(item) }
    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) {
        try unlocked().replace(item, attributes: attributes)
    }
    func remove(account: String) throws(SecretItemError) { try unlocked().remove(account: account) }
}
