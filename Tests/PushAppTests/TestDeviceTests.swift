import Foundation
import PushApp
import PushService
import PushServiceTesting
import SealedPush
import TestSupport
import Testing
import UserNotifications

@Suite("An app on a test device", .blocking) @MainActor struct TestDeviceTests {
    private let device: TestDevice
    private let service = NotificationService()

    init() throws { device = try TestDevice() }

    /// An app's process; each test needs its own.
    private func app(
        _ configuration: ServiceConfiguration = .messages, server: URL? = URL(string: "https://push.example.com/v7"),
        authorization: @escaping @Sendable (String) async throws -> String = { "Bearer \($0)" }
    ) -> SealedPushes {
        SealedPushes(configuration, server: server, authorization: authorization)
    }

    private func registered(_ pushes: SealedPushes, as session: String = "alice") async {
        await device.launch(pushes)
        await pushes.logIn(session)
        await device.giveToken(to: pushes)
    }

    private static let isRegistered = PushStatus.registered(device: "test-device", isOverdue: false)

    private func reason(_ content: UNNotificationContent) -> OpenError? {
        SealedNotification(userInfo: content.userInfo)?.reason
    }

    @Test("a process that is launched again finds its login and its token, and nothing on another device")
    func relaunches() async throws {
        let pushes = app()
        await device.launch(pushes)
        #expect(pushes.status == .loggedOut && !device.isRegistered)
        // Nobody asked for a token.
        await device.giveToken(to: pushes)
        await pushes.logIn("alice")
        #expect(pushes.status == .waitingForToken && !device.isRegistered)
        await device.giveToken(to: pushes)
        #expect(pushes.status == Self.isRegistered && device.isRegistered)
        try await pushes.sendTest()

        await device.launch(pushes)
        #expect(pushes.status == .waitingForToken)
        await pushes.refresh()
        #expect(pushes.status == Self.isRegistered)

        let other = try TestDevice()
        await other.launch(pushes)
        #expect(pushes.status == .loggedOut && !other.isRegistered)
        #expect(device.isRegistered)
    }

    @Test("without a network, a login waits, and a logout is finished at the next activation") func offline()
        async throws
    {
        let pushes = app()
        device.isOnline = false
        await registered(pushes)
        #expect(pushes.status == .waitingForToken)
        device.isOnline = true
        await device.giveToken(to: pushes)
        #expect(device.isRegistered)

        let held = try device.payload(of: Content(body: "held"), for: service)
        try await device.show(Content(body: "shown"), by: service)
        device.isOnline = false
        await pushes.logOut()
        #expect(pushes.status == .unfinishedLogout(.unreachable) && device.isRegistered)
        #expect(device.notifications.isEmpty && device.badge == 0)
        #expect(reason(await device.show(held, by: service)) == .unknownRecipient)
        device.isOnline = true
        await device.activate(pushes)
        #expect(pushes.status == .loggedOut && !device.isRegistered)
    }

    @Test("a push from before the first unlock is replaced when the app becomes active") func unlocks() async throws {
        let pushes = app()
        await registered(pushes)
        let payload = try device.payload(of: Content(body: "Lunch?"), for: service)
        device.isLocked = true
        #expect(reason(await device.show(payload, identifier: "1", by: service)) == .locked)
        await device.launch(pushes)
        #expect(pushes.status == .loggedOut)
        await device.activate(pushes)
        #expect(device.notifications.map { reason($0.content) } == [.locked])
        device.isLocked = false
        await device.activate(pushes)
        #expect(device.notifications.map(\.content.body) == ["Lunch?"])
        #expect(pushes.status == .waitingForToken)
        #expect(pushes.log.count >= 2 && pushes.log[0].reason == nil)
    }

    @Test("a withdrawal removes its thread's notifications, whether the app or the extension opens it")
    func withdraws() async throws {
        let (pushes, start) = (app(), Timestamp.now())
        // Keys open nothing from before they were made.
        device.now = start.advanced(bySeconds: -120)
        await registered(pushes)
        for isFiltered in [false, true] {
            device.now = start.advanced(bySeconds: -60)
            for thread in ["lunch", "dinner"] {
                var content = Content(title: thread, body: "?")
                content.threadID = thread
                content.badge = 2
                try await device.show(content, identifier: thread, by: service)
            }
            #expect(device.notifications.count == 2 && device.badge == 2)
            device.now = nil
            var withdrawal = Content(withdrawing: .thread("lunch"), isFiltered: isFiltered)
            withdrawal.badge = 1
            let payload = try device.payload(of: withdrawal, for: service)
            if isFiltered {
                await device.show(payload, by: service)
            } else {
                #expect(await pushes.didReceive(payload))
            }
            #expect(device.notifications.map(\.identifier) == ["dinner"] && device.badge == 1)
        }
    }

    @Test("a tap reaches the app once it listens, and only for a notification that is there") func taps() async throws {
        let pushes = app()
        await registered(pushes)
        try await device.show(Content(body: "Lunch?"), identifier: "1", by: service)
        await device.tap("other", in: pushes)
        await device.tap("1", action: "reply", in: pushes)
        let actions = Collected<String>()
        pushes.onTap = { _, response in actions.add(response.actionIdentifier) }
        try await eventually("the tap that came first is handled") { @Sendable in actions.all == ["reply"] }
        await device.tap("1", in: pushes)
        #expect(actions.all == ["reply"])
    }

    @Test("the server answers only a login, and only an app that has an address with https") func refuses() async throws
    {
        struct LoggedOut: Error {}
        let without = app { _ in throw LoggedOut() }
        await registered(without)
        guard case .notRegistered(let problem) = without.status else {
            return #expect(Bool(false), "\(without.status)")
        }
        #expect(problem.error == .noAuthorization && !device.isRegistered)
        await without.logOut()

        let clear = app(server: URL(string: "http://push.example.com"))
        await registered(clear)
        guard case .notRegistered(let other) = clear.status else { return #expect(Bool(false), "\(clear.status)") }
        #expect(other.error == .notSecure && !device.isRegistered)
        await clear.logOut()

        // A debug build's server may be on the same machine; and an app under test may have no address yet.
        for server in [URL(string: "http://localhost:8481"), nil] {
            let other = try TestDevice()
            let pushes = app(server: server)
            await other.launch(pushes)
            await pushes.logIn("alice")
            await other.giveToken(to: pushes)
            #expect(pushes.status == Self.isRegistered && other.isRegistered)
        }
    }

    @Test("a key that waits for its first message for more than 45 days is reported as overdue") func overdue()
        async throws
    {
        let pushes = app()
        let start = Timestamp.now()
        device.now = start
        await registered(pushes)
        try await device.show(Content(body: "first"), by: service)
        await pushes.refresh()
        // The key is old, so a second one waits for a message from now on.
        device.now = start.advanced(bySeconds: 31 * 86_400)
        await pushes.refresh()
        #expect(pushes.status == Self.isRegistered)
        for (seconds, isOverdue) in [(45 * 86_400, false), (45 * 86_400 + 1, true)] as [(Int64, Bool)] {
            device.now = start.advanced(bySeconds: 31 * 86_400 + seconds)
            await pushes.refresh()
            #expect(pushes.status == .registered(device: "test-device", isOverdue: isOverdue), "\(seconds)")
        }
        try await device.show(Content(body: "second"), by: service)
        await pushes.refresh()
        #expect(pushes.status == Self.isRegistered)
    }
}
