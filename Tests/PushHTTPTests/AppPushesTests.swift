import Foundation
import PushApp
import PushCore
import PushOutbox
import PushService
import SealedPush
import TestPrograms
import TestSupport
import Testing
import UserNotifications

@Suite("An app's pushes at a server", .blocking, .serialized) struct AppPushesTests {
    /// The app's stored data, shared by successive processes.
    final class Storage: PushStorage {
        private let data = Locked<Data?>(nil)

        func read() -> Data? { data.withLock { $0 } }

        func write(_ data: Data) -> Bool {
            self.data.withLock { $0 = data }
            return true
        }

        var saved: Saved {
            get throws { try read().map { try JSONDecoder().decode(Saved.self, from: $0) } ?? Saved() }
        }
    }

    /// Starts the app's process on a phone that has its own notification center.
    @MainActor static func pushes(on phone: OwnDevice, at server: URL?, _ storage: Storage) -> SealedPushes {
        nonisolated(unsafe) let center = UNUserNotificationCenter()
        var app = phone.configuration
        app.environment = phone.environment
        app.environment.center = { center }
        return SealedPushes(app, server: server, storage: storage) { "Bearer \($0)" }
    }

    @Test("the daily task ends and registers with the stored token, although no callback with a token ever arrives")
    func refreshes() async throws {
        try await RunningServer.with { server in
            let (storage, phone) = (Storage(), try server.phone("phone"))
            let first = await Self.pushes(on: phone, at: server.url, storage)
            await first.logIn(try server.login("alice"))
            #expect(await first.status == .waitingForToken)
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
            await first.took(token: Data([1, 2]))
            #expect(try await server.outbox.devices(of: "alice").count == 1)

            // A background launch: the system provides no token.
            try await server.outbox.remove(server.outbox.devices(of: "alice")[0].name)
            let second = await Self.pushes(on: phone, at: server.url, storage)
            await second.refresh()
            let device = try #require(try await server.outbox.devices(of: "alice").first)
            #expect(await second.status == .registered(device: device.name.description, isOverdue: false))
            try await second.sendTest()
            #expect(try await server.outbox.status().waitingCount == 1)
        }
    }

    @Test("logging out works without a network, and the server is notified later") func logsOut() async throws {
        try await RunningServer.with { server in
            let (storage, phone) = (Storage(), try server.phone("phone"))
            let first = await Self.pushes(on: phone, at: server.url, storage)
            await first.logIn(try server.login("alice"))
            await first.took(token: Data([1, 2]))
            let away = await Self.pushes(on: phone, at: URL(string: "http://127.0.0.1:1"), storage)
            await away.logOut()
            #expect(await away.status == .unfinishedLogout(.unreachable))
            #expect(try storage.saved.session == nil)
            #expect(try await server.outbox.devices(of: "alice").count == 1)

            // Until the server is notified, no other account can take the phone.
            await away.logIn(try server.login("bob"))
            #expect(try await server.outbox.devices(of: "bob").isEmpty)

            let later = await Self.pushes(on: phone, at: server.url, storage)
            await later.refresh()
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
            #expect(try await server.outbox.devices(of: "bob").count == 1)
            // A login during another account's session first leaves that account.
            await later.logIn(try server.login("carol"))
            #expect(try await server.outbox.devices(of: "bob").isEmpty)
            #expect(try await server.outbox.devices(of: "carol").count == 1)
            await later.refresh()
            #expect(try await server.outbox.devices(of: "carol").count == 1)
        }
    }

    @Test("a finished logout isn't reported as unfinished any longer") func finishesLogout() async throws {
        try await RunningServer.with { server in
            let middlebox = Middlebox(.leavings)
            let phone = try server.phone("phone", fetcher: middlebox)
            let pushes = await Self.pushes(on: phone, at: server.url, Storage())
            await pushes.logIn(try server.login("alice"))
            await pushes.took(token: Data([1, 2]))
            middlebox.trouble.withLock { $0 = .offline }
            await pushes.logOut()
            #expect(await pushes.status == .unfinishedLogout(.unreachable))
            middlebox.trouble.withLock { $0 = .none }
            await pushes.becameActive()
            #expect(await pushes.status == .loggedOut)
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
        }
    }
}
