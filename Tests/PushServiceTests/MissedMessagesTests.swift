// Apple's notification center can't be created in a test.
#if !canImport(Darwin)
import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

/// DeviceState 38.
@Suite("A restart that may have lost messages") struct MissedMessagesTests {
    private let fixture: Fixture
    private nonisolated(unsafe) let center = UNUserNotificationCenter()
    private let session = Locked<String?>("first")
    private let stage = MissedMessagesStage(title: "App", body: "You may have missed messages.")

    init() throws { fixture = try Fixture() }

    /// Opens a message that was sent some seconds ago, and returns the notices so far.
    private func open(
        sentAgo seconds: Int64, identifier: String = UUID().uuidString, field: String? = nil
    ) async throws -> [String] {
        var content = Content(body: "b")
        // Long after the ledger's first second.
        let now = fixture.now.advanced(bySeconds: 10_000)
        content.sent = now.advanced(bySeconds: -seconds)
        var environment = fixture.environment(now: { now })
        nonisolated(unsafe) let center = center
        environment.center = { center }
        environment.bootSession = { [session] in session.withLock { $0 } }
        await fixture.show(
            try field ?? fixture.seal(content), identifier: identifier, stages: [stage], environment: environment)
        return center.notifications.map(\.request.content.body)
    }

    @Test("Only the first message after a restart, and only one that waited, shows the notice, once") func once()
        async throws
    {
        // An installation is no restart.
        #expect(try await open(sentAgo: 600) == [])
        #expect(try await open(sentAgo: 600) == [])
        session.withLock { $0 = "second" }
        #expect(try await open(sentAgo: 60) == [])
        #expect(try await open(sentAgo: 600) == [])
        session.withLock { $0 = "third" }
        #expect(try await open(sentAgo: 61) == ["You may have missed messages."])
        #expect(try await open(sentAgo: 600) == ["You may have missed messages."])
        #expect(center.notifications.map(\.request.identifier) == ["sealed-push.missed"])
        #expect(center.notifications.first?.request.content.interruptionLevel == .passive)
    }

    @Test("What doesn't open, and a system without a session, note nothing") func nothing() async throws {
        #expect(try await open(sentAgo: 0) == [])
        session.withLock { $0 = "second" }
        #expect(try await open(sentAgo: 0, field: "AQ") == [])
        session.withLock { $0 = nil }
        #expect(try await open(sentAgo: 600) == [])
        session.withLock { $0 = "second" }
        #expect(try await open(sentAgo: 600) == ["You may have missed messages."])
    }

    @Test("This system has a session, the same for each call") func current() {
        #expect(BootSession.current()?.count == 36)
        #expect(BootSession.current() == BootSession.current())
    }
}
#endif
