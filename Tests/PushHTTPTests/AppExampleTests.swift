import Dispatch
import Foundation
import PushCore
import PushHTTP
import PushOutbox
import PushSender
import PushServiceTesting
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing
import UserNotifications

@testable import PushService
@testable import app_example

@Suite(
    "The example app's own code, with a system that never calls back and a server that never answers", .blocking,
    .serialized)
struct AppExampleTests {
    /// The app's stored data, shared by successive processes.
    final class Item: SavedItem {
        private let data = Locked<Data?>(nil)
        let isLocked = Locked(false)

        /// Whether reading a hidden item throws, as on iOS. Other systems report it in either way.
        let saysSo = Locked(true)

        func read() throws -> Data? {
            guard isLocked.withLock({ $0 }) else { return data.withLock { $0 } }
            guard saysSo.withLock({ $0 }) else { return nil }
            throw CocoaError(.fileReadNoPermission)
        }

        func write(_ data: Data) -> Bool {
            guard !isLocked.withLock({ $0 }) else { return false }
            self.data.withLock { $0 = data }
            return true
        }
    }

    func app(_ phone: OwnDevice) -> ServiceConfiguration {
        var app = phone.configuration
        app.environment = phone.environment
        return app
    }

    @Test("the daily task ends and enrolls with the stored token, although no callback with a token ever arrives")
    func refreshes() async throws {
        try await RunningServer.with { server in
            let item = Item()
            let app = app(try server.phone("phone"))
            let first = await Pushes(app, server: server.url, saved: SavedStore(item))
            await first.logIn(Account(session: try server.login("alice")))
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
            await first.took(token: Data([1, 2]))
            #expect(try await server.outbox.devices(of: "alice").count == 1)

            // A background launch: the system provides no token.
            try await server.outbox.remove(server.outbox.devices(of: "alice")[0].name)
            let second = await Pushes(app, server: server.url, saved: SavedStore(item))
            await second.refresh()
            #expect(try await server.outbox.devices(of: "alice").count == 1)
            await second.sendTest()
            #expect(await second.state == "A test is on its way.")
            #expect(try await server.outbox.status().waitingCount == 1)
        }
    }

    @Test("logging out works without a network, and the server is notified later") func logsOut() async throws {
        try await RunningServer.with { server in
            let item = Item()
            let app = app(try server.phone("phone"))
            let first = await Pushes(app, server: server.url, saved: SavedStore(item))
            await first.logIn(Account(session: try server.login("alice")))
            await first.took(token: Data([1, 2]))
            let away = await Pushes(app, server: URL(string: "http://127.0.0.1:1"), saved: SavedStore(item))
            await away.logOut()
            #expect(await away.state.hasPrefix("Logged out"))
            #expect(await SavedStore(item).value.session == nil)
            #expect(try await server.outbox.devices(of: "alice").count == 1)

            // Until the server is notified, no other account can take the phone.
            await away.logIn(Account(session: try server.login("bob")))
            #expect(try await server.outbox.devices(of: "bob").isEmpty)

            let later = await Pushes(app, server: server.url, saved: SavedStore(item))
            await later.refresh()
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
            #expect(try await server.outbox.devices(of: "bob").count == 1)
            // A login during another account's session first leaves that account.
            await later.logIn(Account(session: try server.login("carol")))
            #expect(try await server.outbox.devices(of: "bob").isEmpty)
            #expect(try await server.outbox.devices(of: "carol").count == 1)
            await later.refresh()
            #expect(try await server.outbox.devices(of: "carol").count == 1)
        }
    }

    @Test("a launch before the first unlock loses neither the login nor the token") func launchesLocked() async throws {
        for saysSo in [true, false] {
            let item = Item()
            item.saysSo.withLock { $0 = saysSo }
            await SavedStore(item).change { $0.session = "alice's" }
            item.isLocked.withLock { $0 = true }
            let store = SavedStore(item)
            #expect(await store.value.session == nil)
            await store.change { $0.token = Data([1]) }
            item.isLocked.withLock { $0 = false }
            await store.change { $0.token = Data([2]) }
            let later = await SavedStore(item).value
            #expect(later.session == "alice's" && later.token == Data([2]))
        }
    }

    /// A keychain that doesn't respond.
    private struct HangingItems: SecretItems {
        let gate: DispatchSemaphore
        let asked: DispatchSemaphore

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

    @Test("the main actor stays free while the keychain hangs") @MainActor func hangs() async throws {
        let folder = try TemporaryFolder()
        let items = HangingItems(gate: DispatchSemaphore(value: 0), asked: DispatchSemaphore(value: 0))
        let app = ServiceConfiguration(
            topic: "com.example.app", keys: .items(items), trusting: [SenderPrivateKey().sender],
            safeDefault: SafeDefault(body: "d"), container: .folder(folder.url))
        let center = UNUserNotificationCenter.current()
        let locked = UNMutableNotificationContent()
        locked.userInfo = ["sealed-push": ["outcome": "safe-default", "reason": "locked", "envelope": "AQ"]]
        try await center.add(UNNotificationRequest(identifier: "locked", content: locked, trigger: nil))
        let pushes = Pushes(app, server: URL(string: "https://127.0.0.1:1"), saved: SavedStore(Item()))
        await pushes.logIn(Account(session: "x"))
        let enrolling = Task { await pushes.took(token: Data([1, 2])) }
        // If a keychain call ran on this actor, the actor would wait for itself.
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "asked").async {
                items.asked.wait()
                continuation.resume()
            }
        }
        items.gate.signal()
        await enrolling.value
        await pushes.openWhatWasLocked()
        #expect(await center.deliveredNotifications().first?.request.content.userInfo.isEmpty == false)
        center.removeAllDeliveredNotifications()
    }

    @Test("a push is shown while the app is open; a notification that the app added itself appears only in the list")
    func presents() {
        let all: UNNotificationPresentationOptions = [.banner, .list, .sound, .badge]
        let cases: [(UNNotificationTrigger?, UNNotificationPresentationOptions)] = [
            (UNPushNotificationTrigger(), all), (nil, .list),
        ]
        for (trigger, expected) in cases {
            let request = UNNotificationRequest(
                identifier: "one", content: UNMutableNotificationContent(), trigger: trigger)
            var options: UNNotificationPresentationOptions = []
            NotificationDelegate().userNotificationCenter(
                .current(), willPresent: UNNotification(request: request, date: .now)
            ) { options = $0 }
            #expect(options == expected)
        }
    }

    @Test("a push received before the first unlock replaces the safe default later, with its sender's data")
    @MainActor func unlocks() async throws {
        let (folder, phone, sender) = (try TemporaryFolder(), DevicePrivateKey(), SenderPrivateKey())
        let keys = InMemorySecretItems([StoredKey.item(phone, life: KeyLife(created: .now(), confirmed: .now()))])
        let ledger = FileLedger(in: folder.appending("SealedPush"))
        try ledger.begin(floor: Timestamp.now().advanced(bySeconds: -60), asksForNewKey: false)
        let app = ServiceConfiguration(
            topic: "com.example.app", keys: .items(keys), trusting: [sender.sender],
            safeDefault: SafeDefault(body: "d"), container: .folder(folder.url))
        var content = Content(title: "Nina", body: "Lunch?")
        content.data = ["thread": "lunch"]
        let envelope = try Sealer(sender: sender, topic: app.topic, safeDefault: "wire")
            .seal(content, toUnverified: phone.recipient).envelope.text
        let locked = UNMutableNotificationContent()
        locked.body = "d"
        locked.userInfo = ["sealed-push": ["outcome": "safe-default", "reason": "locked", "envelope": envelope]]
        let center = UNUserNotificationCenter.current()
        center.removeAllDeliveredNotifications()
        try await center.add(UNNotificationRequest(identifier: "one", content: locked, trigger: nil))
        let pushes = Pushes(app, server: nil, saved: SavedStore(Item()))
        await pushes.openWhatWasLocked()
        let shown = await center.deliveredNotifications().map { $0.request.content }
        #expect(shown.map { $0.title } == ["Nina"])
        await pushes.tapped(
            UNNotification(
                request: UNNotificationRequest(identifier: "one", content: shown[0], trigger: nil), date: .now))
        #expect(pushes.thread == "lunch")
        center.removeAllDeliveredNotifications()

        // A tap removes it from the list, so it is opened from the tap itself.
        let tapping = Pushes(app, server: nil, saved: SavedStore(Item()))
        await tapping.tapped(
            UNNotification(request: UNNotificationRequest(identifier: "one", content: locked, trigger: nil), date: .now)
        )
        #expect(tapping.thread == "lunch")
    }
}
