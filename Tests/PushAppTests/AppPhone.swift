import Dispatch
import Foundation
import PushApp
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import UserNotifications

@testable import PushService

/// A phone with its own keychain, container, and notification center, and without a network.
@MainActor final class AppPhone {
    let storage = MemoryStorage()
    let center = UNUserNotificationCenter()
    private let folder: TemporaryFolder
    private let key = DevicePrivateKey()
    private let sender = SenderPrivateKey()
    private let items: any SecretItems
    /// The calls to the system, in order.
    private(set) var calls: [String] = []

    init(_ items: (any SecretItems)? = nil) throws {
        folder = try TemporaryFolder()
        self.items =
            items
            ?? InMemorySecretItems([StoredKey.item(key, life: KeyLife(created: .now(), confirmed: .now()))])
        try FileLedger(in: folder.appending("SealedPush"))
            .begin(floor: Timestamp.now().advanced(bySeconds: -60), asksForNewKey: false)
    }

    var badge: BadgeCount { BadgeCount(in: folder.appending("SealedPush")) }

    func forgetCalls() { calls = [] }

    /// The names of the items in the keychain.
    var itemNames: [String] { get throws { try items.list().map(\.account) } }

    func configuration(
        trusting senders: [SenderPublicKey]? = nil, _ fetcher: (any Fetching)? = nil
    ) -> ServiceConfiguration {
        nonisolated(unsafe) let center = center
        let items = items
        var app = ServiceConfiguration(
            topic: "com.example.app", keys: .items(items), trusting: senders ?? [sender.sender],
            safeDefault: SafeDefault(body: "d"), container: .folder(folder.url))
        app.environment = DeviceEnvironment(
            keychain: { _ in items }, appGroup: { _ in nil }, fetcher: fetcher ?? NoNetwork())
        app.environment.center = { center }
        return app
    }

    /// Starts the app's process. Its server doesn't answer.
    func pushes(
        trusting senders: [SenderPublicKey]? = nil, server: URL? = URL(string: "https://127.0.0.1:1")
    ) -> SealedPushes {
        watched(
            SealedPushes(configuration(trusting: senders), server: server, storage: storage) { "Bearer \($0)" })
    }

    /// Starts the process of an app whose accounts have names.
    func accounts(_ servers: (any Fetching)? = nil) -> SealedPushes {
        watched(
            SealedPushes(accountsOf: configuration(trusting: [], servers), storage: storage) { account, session in
                "Bearer \(account.name) \(session)"
            })
    }

    private func watched(_ pushes: SealedPushes) -> SealedPushes {
        pushes.system.register = { [weak self] in self?.calls.append("register") }
        pushes.system.unregister = { [weak self] in self?.calls.append("unregister") }
        pushes.system.begin = { [weak self] task, _ in self?.calls.append("begin \(task)") }
        pushes.system.planRefresh = { [weak self] task in self?.calls.append("plan \(task)") }
        pushes.system.planRemoval = { [weak self] task, time in
            self?.calls.append("plan \(task) at \(Int(time.timeIntervalSince1970))")
        }
        pushes.system.forgetPeople = { [weak self] in self?.calls.append("forget people") }
        return pushes
    }

    /// Seals a message to this phone.
    func seal(_ content: Content) throws -> String {
        try Sealer(sender: sender, topic: "com.example.app", safeDefault: "wire")
            .seal(content, toUnverified: key.recipient).envelope.text
    }

    /// What the extension shows for a message that the lock screen must not show.
    func generic(_ content: Content) throws -> UNNotificationContent {
        let (generic, id) = (UNMutableNotificationContent(), MessageID.random())
        var content = content
        content.id = id
        generic.body = "d"
        generic.userInfo = [
            "sealed-push": [
                "outcome": "opened", "id": id.description, "disclosure": "generic", "envelope": try seal(content),
            ]
        ]
        return generic
    }

    /// What the extension shows for a message before the first unlock.
    func locked(_ content: Content) throws -> UNNotificationContent {
        let locked = UNMutableNotificationContent()
        locked.body = "d"
        locked.userInfo = [
            "sealed-push": ["outcome": "safe-default", "reason": "locked", "envelope": try seal(content)]
        ]
        return locked
    }
}

/// The app's stored data, shared by successive processes.
final class MemoryStorage: PushStorage {
    enum State {
        case works
        /// Reading throws, as on iOS before the first unlock. Writing would succeed.
        case locked
        /// Reading finds nothing, which other systems report instead.
        case hidden
        /// Writing fails.
        case full
        /// Writing fails once.
        case hiccup
    }

    let state = Locked(State.works)
    private let data = Locked<Data?>(nil)

    var saved: Saved {
        get throws { try data.withLock { $0 }.map { try JSONDecoder().decode(Saved.self, from: $0) } ?? Saved() }
    }

    func read() throws -> Data? {
        switch state.withLock({ $0 }) {
        case .works, .full, .hiccup: data.withLock { $0 }
        case .locked: throw CocoaError(.fileReadNoPermission)
        case .hidden: nil
        }
    }

    func write(_ data: Data) -> Bool {
        switch state.withLock({ $0 }) {
        case .works, .locked:
            self.data.withLock { $0 = data }
            return true
        case .hiccup:
            state.withLock { $0 = .works }
            return false
        case .hidden, .full: return false
        }
    }
}

private struct NoNetwork: Fetching {
    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer { throw .network }
}

/// A keychain that doesn't respond.
struct HangingItems: SecretItems {
    let gate = DispatchSemaphore(value: 0)
    let asked = DispatchSemaphore(value: 0)

    func list() throws(SecretItemError) -> [ListedItem] {
        asked.signal()
        gate.wait()
        gate.signal()
        throw .locked
    }

    func secret(account: String) throws(SecretItemError) -> ItemSecret { throw .locked }
    func add(_ item: SecretItem) throws(SecretItemError) { throw .locked }
    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError) { throw .locked }
    func remove(account: String) throws(SecretItemError) { throw .locked }
}
