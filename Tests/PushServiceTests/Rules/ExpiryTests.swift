import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

// Apple's classes of what was delivered have no public initializers.
#if !canImport(Darwin)
@Suite("Notifications that expire") struct ExpiryTests {
    private let fixture: Fixture
    // Safe, because a lock protects its state.
    private nonisolated(unsafe) let center = UNUserNotificationCenter()

    init() throws { fixture = try Fixture() }

    private func environment(at now: Timestamp) -> DeviceEnvironment {
        nonisolated(unsafe) let center = center
        var environment = fixture.environment(now: { now })
        environment.center = { center }
        return environment
    }

    private func app(at now: Timestamp) -> ServiceConfiguration {
        var app = fixture.configuration()
        app.environment = environment(at: now)
        return app
    }

    /// Has the extension show a message, and puts it into the list.
    private func show(
        _ name: String, expires: Timestamp?, at now: Timestamp, stages: [any ServiceStage] = [],
        _ change: (inout Content) -> Void = { _ in }
    ) async throws {
        var content = Content(body: name)
        (content.sent, content.expires) = (fixture.now, expires)
        change(&content)
        let shown = await fixture.show(
            try fixture.seal(content), identifier: name, stages: stages, environment: environment(at: now))
        #expect(SealedNotification(userInfo: shown.userInfo)?.expires == expires)
        let request = UNNotificationRequest(identifier: name, content: shown, trigger: nil)
        center.deliver(UNNotification(request: request, date: .now))
    }

    private var list: [String] { center.notifications.map(\.request.identifier) }

    private var marks: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: fixture.root.appending(path: "expiring").path)) ?? []
    }

    @Test("The app removes a notification ten minutes after its message expired, and learns when the next one ends")
    func app() async throws {
        let now = fixture.now
        try await show("never", expires: nil, at: now)
        try await show("first", expires: now, at: now)
        try await show("second", expires: now.advanced(bySeconds: 60), at: now) { $0.disclosure = .generic }
        for (seconds, left, next) in [
            (0, ["never", "first", "second"], 601), (600, ["never", "first", "second"], 601),
            (601, ["never", "second"], 661), (660, ["never", "second"], 661), (661, ["never"], nil),
        ] as [(Int64, [String], Int64?)] {
            let found = await app(at: now.advanced(bySeconds: seconds)).removeExpired()
            #expect(list == left && found == next.map { now.advanced(bySeconds: $0) }, "\(seconds)")
        }
    }

    /// Adds nothing.
    private struct Stage: ServiceStage {}

    @Test("The next push removes what has expired, with and without stages, even if it doesn't open", arguments: 0..<3)
    func nextPush(kind: Int) async throws {
        let now = fixture.now
        try await show("never", expires: nil, at: now)
        try await show("first", expires: now.advanced(bySeconds: 60), at: now)
        try await show("second", expires: now.advanced(bySeconds: 9_000), at: now)
        #expect(marks.count == 2)
        // The mark is at the end of ten minutes.
        let later = now.advanced(bySeconds: 60 + 600 + 1 + 599)
        switch kind {
        case 0: try await show("new", expires: nil, at: later)
        case 1: try await show("new", expires: nil, at: later, stages: [Stage()])
        default:
            await fixture.show("AQ", by: app(at: later), environment: environment(at: later))
        }
        #expect(list == (kind == 2 ? ["never", "second"] : ["never", "second", "new"]))
        #expect(marks.count == 1)
    }

    @Test("A push asks for the list only if something has expired, and no mark is made for what never ends")
    func marked() async throws {
        let now = fixture.now
        let asked = Locked(0)
        center.elsewhere = {
            asked.withLock { $0 += 1 }
            return []
        }
        try await show("never", expires: nil, at: now)
        try await show("far", expires: now.advanced(bySeconds: 31 * 86_400), at: now)
        #expect(marks == [])
        try await show("near", expires: now.advanced(bySeconds: 60), at: now)
        try await show("same", expires: now.advanced(bySeconds: 60), at: now)
        #expect(marks.count == 1 && asked.withLock { $0 } == 0)
        // Names that aren't times are left alone.
        try fixture.folder.write("", to: "SealedPush/expiring/note")
        try await show("new", expires: nil, at: now.advanced(bySeconds: 2_000))
        #expect(marks == ["note"] && asked.withLock { $0 } == 1)
    }

    @Test("A folder that can't be written costs neither the message nor its removal by the app") func unwritable()
        async throws
    {
        try fixture.folder.write("", to: "SealedPush/expiring")
        let now = fixture.now
        try await show("first", expires: now, at: now)
        #expect(list == ["first"])
        #expect(await app(at: now.advanced(bySeconds: 601)).removeExpired() == nil && list == [])
    }
}
#endif
