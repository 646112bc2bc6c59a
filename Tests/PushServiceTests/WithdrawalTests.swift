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
@Suite("Withdrawals") struct WithdrawalTests {
    private let fixture: Fixture
    // Safe, because a lock protects its state.
    private nonisolated(unsafe) let center = UNUserNotificationCenter()

    init() throws { fixture = try Fixture() }

    private var environment: DeviceEnvironment {
        nonisolated(unsafe) let center = center
        var environment = fixture.environment()
        environment.center = { center }
        return environment
    }

    private var app: ServiceConfiguration {
        var app = fixture.configuration(allowsAnonymous: true)
        app.environment = environment
        return app
    }

    /// Messages on the screen: two of a thread, one of another, one of another sender, and one that didn't open.
    private func fillList() async throws -> (first: MessageID, later: Timestamp) {
        let first = MessageID.random()
        let (now, later) = (fixture.now, fixture.now.advanced(bySeconds: 30))
        for (name, thread, sent, id) in [
            ("first", "nina", now, first), ("later", "nina", later, MessageID.random()),
            ("other", "omar", now, MessageID.random()),
        ] {
            var content = Content(body: name)
            (content.threadID, content.sent, content.id) = (thread, sent, id)
            await show(try fixture.seal(content), as: name)
        }
        await show("AQ", as: "failed")
        var content = Content(body: "stranger")
        (content.threadID, content.id) = ("nina", first)
        let anonymous = try Sealer(anonymousFor: Fixture.topic, safeDefault: "wire default")
            .seal(content, toUnverified: fixture.phone.recipient)
        await show(anonymous.envelope.text, as: "anonymous")
        return (first, later)
    }

    private func show(_ field: String, as identifier: String) async {
        let shown = await fixture.show(field, identifier: identifier, by: app, environment: environment)
        guard !shown.body.isEmpty else { return }
        let request = UNNotificationRequest(identifier: identifier, content: shown, trigger: nil)
        center.deliver(UNNotification(request: request, date: .now))
    }

    private var list: [String] { center.notifications.map(\.request.identifier) }

    private func seal(
        _ target: Content.Withdrawal.Target, isFiltered: Bool = false, badge: Int? = nil, sent: Timestamp? = nil
    ) throws -> String {
        var content = Content(withdrawing: target, isFiltered: isFiltered)
        (content.badge, content.sent) = (badge, sent ?? fixture.now.advanced(bySeconds: 1))
        return try fixture.seal(content)
    }

    @Test("The app opens a withdrawal, removes its sender's earlier message or thread, and sets the badge")
    func app() async throws {
        let (first, later) = try await fillList()
        #expect(list == ["first", "later", "other", "failed", "anonymous"])
        let withdrawal = try await app.withdraw(envelope: try seal(.message(.random())))
        #expect(withdrawal != nil && list.count == 5 && center.takeChanges().badge == nil)
        try await app.withdraw(envelope: try seal(.message(first)))
        #expect(list == ["later", "other", "failed", "anonymous"])
        try await app.withdraw(envelope: try seal(.thread("nina"), badge: 1))
        // A message sent after the withdrawal stays.
        #expect(list == ["later", "other", "failed", "anonymous"] && center.takeChanges().badge == 1)
        try await app.withdraw(envelope: try seal(.thread("nina"), badge: 0, sent: later))
        // A message sent in the same second stays, too, unless it's named.
        #expect(list == ["later", "other", "failed", "anonymous"] && center.takeChanges().badge == 0)
        try await app.withdraw(envelope: try seal(.thread("nina", and: first), badge: 0, sent: later))
        #expect(list == ["later", "other", "failed", "anonymous"] && center.takeChanges().badge == 0)
        try await app.withdraw(envelope: try seal(.thread("nina"), badge: 0, sent: later.advanced(bySeconds: 1)))
        #expect(list == ["other", "failed", "anonymous"] && center.takeChanges().badge == 0)
        // Messages add to the number that the withdrawal has set.
        try await app.withdraw(envelope: try seal(.thread("nobody"), badge: 4))
        var message = Content(body: "b")
        message.badgeIncrement = 1
        #expect(await fixture.show(try fixture.seal(message), by: app, environment: environment).badge == 5)
    }

    @Test("A thread's withdrawal also removes the message that it names, whenever that was sent") func named()
        async throws
    {
        let (now, read) = (fixture.now, MessageID.random())
        for (name, thread, sent, id) in [
            ("earlier", "nina", now.advanced(bySeconds: -1), MessageID.random()), ("read", "nina", now, read),
            ("unread", "nina", now, MessageID.random()), ("other", "omar", now, MessageID.random()),
        ] {
            var content = Content(body: name)
            (content.threadID, content.sent, content.id) = (thread, sent, id)
            await show(try fixture.seal(content), as: name)
        }
        try await app.withdraw(envelope: try seal(.thread("nina", and: read), sent: now))
        #expect(list == ["unread", "other"])
    }

    @Test("Another trusted sender withdraws what a former sender sent, and no one withdraws for a trusted one")
    func rotation() async throws {
        let (old, other) = (SenderPrivateKey(), SenderPrivateKey())
        func app(trusting senders: [SenderPrivateKey]) -> ServiceConfiguration {
            var app = fixture.configuration(trusting: senders.map(\.sender))
            app.environment = environment
            return app
        }
        func seal(_ content: Content, from sender: SenderPrivateKey) throws -> String {
            try Sealer(sender: sender, topic: Fixture.topic, safeDefault: "wire default")
                .seal(content, toUnverified: fixture.phone.recipient).envelope.text
        }
        func show(_ name: String, from sender: SenderPrivateKey, id: MessageID = .random()) async throws {
            var content = Content(body: name)
            (content.threadID, content.sent, content.id) = ("nina", fixture.now, id)
            let all = app(trusting: [old, other])
            let shown = await fixture.show(
                try seal(content, from: sender), identifier: name, by: all, environment: environment)
            let request = UNNotificationRequest(identifier: name, content: shown, trigger: nil)
            center.deliver(UNNotification(request: request, date: .now))
        }
        func withdraw(
            _ target: Content.Withdrawal.Target, from sender: SenderPrivateKey, trusting: [SenderPrivateKey]
        ) async throws {
            var content = Content(withdrawing: target)
            content.sent = fixture.now.advanced(bySeconds: 1)
            try await app(trusting: trusting).withdraw(envelope: try seal(content, from: sender))
        }
        let first = MessageID.random()
        try await show("first", from: old, id: first)
        try await show("second", from: old)
        try await show("third", from: other)
        #expect(list == ["first", "second", "third"])
        // Both are trusted: each withdraws only its own.
        try await withdraw(.message(first), from: other, trusting: [old, other])
        #expect(list == ["first", "second", "third"])
        // The thief of a key that is no longer trusted gains nothing.
        await #expect(throws: OpenError.unknownSender) {
            try await withdraw(.thread("nina"), from: old, trusting: [other])
        }
        #expect(list == ["first", "second", "third"])
        let newest = SenderPrivateKey()
        try await withdraw(.message(first), from: newest, trusting: [newest, other])
        #expect(list == ["second", "third"])
        // What is from a sender that is still trusted stays.
        try await withdraw(.thread("nina"), from: newest, trusting: [newest, other])
        #expect(list == ["third"])
    }

    @Test("A withdrawal finds the thread of a notification that doesn't contain it") func hiddenThreads() async throws {
        for (name, thread, level) in [
            ("full", "nina", Content.Disclosure.full), ("sender", "nina", .sender), ("generic", "nina", .generic),
            ("other", "omar", .generic), ("newer", "nina", .generic),
        ] {
            var content = Content(body: name)
            (content.threadID, content.disclosure) = (thread, level)
            content.sent = fixture.now.advanced(bySeconds: name == "newer" ? 1 : 0)
            await show(try fixture.seal(content), as: name)
        }
        #expect(center.notifications.map(\.request.content.threadIdentifier) == ["nina", "", "", "", ""])
        try await app.withdraw(envelope: try seal(.thread("nina")))
        #expect(list == ["other", "newer"])
    }

    @Test("A withdrawal's thread is compared by its bytes") func equivalentThreads() async throws {
        for (name, thread) in [("composed", "caf\u{e9}"), ("decomposed", "cafe\u{301}")] {
            var content = Content(body: name)
            (content.threadID, content.sent) = (thread, fixture.now)
            await show(try fixture.seal(content), as: name)
        }
        try await app.withdraw(envelope: try seal(.thread("cafe\u{301}")))
        #expect(list == ["composed"])
    }

    @Test("The app does nothing for another kind of message, or for one that doesn't open") func others()
        async throws
    {
        _ = try await fillList()
        // A carrier has moved messages into background pushes; they still open as notifications, with sound and badge.
        var loud = Content(body: "loud")
        (loud.sound, loud.badge) = (.named("default"), 7)
        let moved = try fixture.seal(loud)
        #expect(try await app.withdraw(envelope: moved) == nil)
        let shown = await fixture.show(moved, identifier: "withdrawal", by: app, environment: environment)
        #expect(shown.body == "loud" && shown.badge == 7 && shown.sound != nil)
        let filtered = try seal(.thread("omar"), isFiltered: true)
        #expect(try await app.withdraw(envelope: filtered) == nil && list.count == 5)
        #expect(await fixture.show(filtered, by: app, environment: environment) == UNNotificationContent())
        #expect(list == ["first", "later", "failed", "anonymous"])
        let field = try seal(.thread("omar"))
        await #expect(throws: OpenError.malformed) {
            try await app.withdraw(envelope: String(field.dropLast(2)) + "==")
        }
        let stranger = try Sealer(sender: SenderPrivateKey(), topic: Fixture.topic, safeDefault: "d")
            .seal(Content(withdrawing: .thread("omar")), toUnverified: fixture.phone.recipient)
        await #expect(throws: OpenError.unknownSender) { try await app.withdraw(envelope: stranger.envelope.text) }
        #expect(list == ["first", "later", "failed", "anonymous"])
    }

    @Test("A repeat sets no badge, because a carrier could restore an old number for 30 days") func repeats()
        async throws
    {
        let field = try seal(.thread("nina"), badge: 0)
        try await app.withdraw(envelope: field)
        #expect(center.takeChanges().badge == 0)
        var message = Content(body: "b")
        message.badgeIncrement = 1
        for number in 1...2 {
            #expect(
                await fixture.show(try fixture.seal(message), by: app, environment: environment).badge?.intValue
                    == number)
            try await app.withdraw(envelope: field)
            #expect(center.takeChanges().badge == nil)
        }
        let filtered = try seal(.thread("nina"), isFiltered: true, badge: 0)
        for badge in [0, nil] {
            await fixture.show(filtered, identifier: "same", by: app, environment: environment)
            #expect(center.takeChanges().badge == badge)
        }
    }

    @Test("A background withdrawal in an ordinary push shows the safe default, and isn't used up")
    func moved() async throws {
        _ = try await fillList()
        let field = try seal(.thread("omar"), sent: fixture.now.advanced(bySeconds: 1))
        let shown = await fixture.show(field, by: app, environment: environment)
        #expect(shown.body == "local default" && list.count == 5)
        #expect(SealedNotification(userInfo: shown.userInfo)?.reason == .malformedContent)
        #expect(
            try await app.withdraw(envelope: field) != nil && list == ["first", "later", "failed", "anonymous"])
    }

    @Test("The extension shows nothing for a withdrawal that opens, and the safe default for one that fails")
    func extensionSide() async throws {
        let (first, _) = try await fillList()
        let field = try seal(.message(first), isFiltered: true, badge: 2)
        let broken = await fixture.show(field + "AAAA", by: app, environment: environment)
        #expect(broken.body == "local default" && list.count == 5)
        let shown = await fixture.show(field, identifier: "withdrawal", by: app, environment: environment)
        #expect(shown == UNNotificationContent())
        #expect(list == ["later", "other", "failed", "anonymous"] && center.takeChanges().badge == 2)
        let replay = await fixture.show(field, identifier: "again", by: app, environment: environment)
        #expect(SealedNotification(userInfo: replay.userInfo)?.reason == .replayed)
        #expect(replay.body == "local default")
    }

    @Test("An unknown sender can't withdraw: sealing refuses it, and the extension shows the safe default")
    func anonymous() async throws {
        let (first, _) = try await fillList()
        let sealer = Sealer(anonymousFor: Fixture.topic, safeDefault: "wire default")
        #expect(throws: SealError.anonymousWithdrawal) {
            try sealer.seal(Content(withdrawing: .message(first)), toUnverified: fixture.phone.recipient)
        }
        var content = Content(withdrawing: .message(first), isFiltered: true)
        (content.id, content.topic, content.sent) = (.random(), Fixture.topic, fixture.now)
        let forged = Envelope.sealingAnonymously(content.json + [0x80], to: fixture.phone.recipient)
        let shown = await fixture.show(forged.text, by: app, environment: environment)
        #expect(SealedNotification(userInfo: shown.userInfo)?.reason == .malformedContent)
        #expect(list.count == 5)
    }

    @Test("The app opens a withdrawal that came before the first unlock, and removes its safe default")
    func locked() async throws {
        let (first, _) = try await fillList()
        let locked = WatchedItems(fixture.keys, .failing(.locked))
        let field = try seal(.message(first), isFiltered: true)
        let shown = await fixture.show(field, identifier: "locked", by: fixture.configuration(keys: locked))
        #expect(shown.body == "local default")
        let request = UNNotificationRequest(identifier: "locked", content: shown, trigger: nil)
        let notification = UNNotification(request: request, date: .now)
        center.deliver(notification)
        #expect(await app.reopened(notification) == nil)
        #expect(list == ["later", "other", "failed", "anonymous"])
    }
}
#endif
