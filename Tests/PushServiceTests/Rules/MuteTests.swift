import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("Muted messages") struct MuteTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func message(_ change: (inout Content) -> Void = { _ in }) throws -> String {
        var content = Content(title: "Nina", body: "Lunch?")
        (content.sound, content.interruptionLevel) = (.named("ping.caf"), .timeSensitive)
        (content.threadID, content.badgeIncrement) = ("lunch", 1)
        content.person = Content.Person(name: "Nina", id: "user-17")
        change(&content)
        return try fixture.seal(content)
    }

    private func app(_ stages: [any ServiceStage], hasEntitlement: Bool) -> ServiceConfiguration {
        let app = fixture.configuration()
        return ServiceConfiguration(
            topic: app.topic, keys: app.keys, trusting: app.senders, safeDefault: app.safeDefault,
            container: app.container, hasFilteringEntitlement: hasEntitlement, stages: stages)
    }

    private func show(
        _ field: String, _ stage: any ServiceStage = MuteStage(), hasEntitlement: Bool = true
    ) async -> UNNotificationContent {
        await fixture.show(field, by: app([stage], hasEntitlement: hasEntitlement))
    }

    private func expect(
        _ shown: UNNotificationContent, _ muting: NotificationDraft.Muting, badge: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard muting != .suppressed else {
            #expect(shown == UNNotificationContent(), sourceLocation: sourceLocation)
            return
        }
        #expect(shown.body == "Lunch?" && shown.badge?.intValue == badge, sourceLocation: sourceLocation)
        #expect((shown.sound == nil) == (muting == .quiet), sourceLocation: sourceLocation)
        #expect(
            shown.interruptionLevel == (muting == .quiet ? .passive : .timeSensitive), sourceLocation: sourceLocation)
    }

    private struct Setting: ServiceStage {
        let muting: NotificationDraft.Muting
        var pace: StagePace { .quick }

        func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
            var draft = draft
            draft.muting = muting
            let file = try context.scratchFile(named: "a.png")
            try Data([1]).write(to: file)
            draft.attachments = [DraftAttachment(identifier: "a", file: file, type: "public.png")]
            return draft
        }
    }

    @Test("A stage can keep a notification quiet, and suppress it only with the entitlement") func stages() async throws
    {
        let cases: [(NotificationDraft.Muting, Bool, NotificationDraft.Muting)] = [
            (.none, false, .none), (.none, true, .none), (.quiet, false, .quiet), (.quiet, true, .quiet),
            (.suppressed, false, .quiet), (.suppressed, true, .suppressed),
        ]
        for (index, (muting, hasEntitlement, expected)) in cases.enumerated() {
            let shown = await show(try message(), Setting(muting: muting), hasEntitlement: hasEntitlement)
            // The suppressed one comes last, and isn't counted.
            expect(shown, expected, badge: index + 1)
            #expect(shown.attachments.count == (expected == .suppressed ? 0 : 1))
            let left = try FileManager.default.subpathsOfDirectory(atPath: fixture.scratchRoot.path)
            #expect(left.count { $0.hasSuffix(".png") } == min(index + 1, 5), "\(left)")
        }
        #expect(BadgeCount(in: fixture.root).value == 5)
    }

    @Test("No stage makes a notification louder than another one wanted") func quietest() async throws {
        let stages = [Setting(muting: .quiet), Setting(muting: .none)]
        expect(await fixture.show(try message(), by: app(stages, hasEntitlement: true)), .quiet, badge: 1)
    }

    @Test("A rule mutes its thread, its person, or its server, until it ends") func rules() async throws {
        let (now, other) = (Timestamp.now(), SenderPrivateKey().sender)
        let ends: [(MuteRules.Mute, Bool)] = [
            (.always, true), (.until(now.advanced(bySeconds: 3_600)), true), (.until(now), false),
        ]
        var badge = 0
        for (mute, lasts) in ends {
            let rules: [((inout MuteRules) -> Void, Bool)] = [
                ({ $0.threads["lunch"] = mute }, true), ({ $0.people["user-17"] = mute }, true),
                ({ [sender = fixture.sender.sender] in $0.senders[sender] = mute }, true),
                ({ $0.threads["dinner"] = mute }, false), ({ $0.people["user-18"] = mute }, false),
                ({ $0.senders[other] = mute }, false),
            ]
            for (change, isMeant) in rules {
                var saved = MuteRules()
                change(&saved)
                // Saved while they last.
                try saved.save(in: fixture.root, at: now.advanced(bySeconds: -60))
                #expect(try MuteRules(in: fixture.root) == saved)
                let isMuted = lasts && isMeant
                if !isMuted { badge += 1 }
                expect(await show(try message()), isMuted ? .suppressed : .none, badge: badge)
                badge += 1
                expect(await show(try message(), MuteStage(.quiet)), isMuted ? .quiet : .none, badge: badge)
                badge += 1
                expect(await show(try message(), hasEntitlement: false), isMuted ? .quiet : .none, badge: badge)
            }
        }
        #expect(fixture.log.allSatisfy { $0.stage == nil })
    }

    @Test("A rule that has ended isn't saved again") func ended() throws {
        var rules = MuteRules()
        let now = Timestamp.now()
        rules.threads = ["a": .until(now), "b": .until(now.advanced(bySeconds: 1)), "c": .always]
        try rules.save(in: fixture.root, at: now)
        #expect(try Set(MuteRules(in: fixture.root).threads.keys) == ["b", "c"])
        try MuteRules().save(in: .folder(fixture.folder.url))
        #expect(try MuteRules(savedIn: .folder(fixture.folder.url)) == MuteRules())
    }

    @Test("Quiet hours may pass midnight, and follow the phone's time zone") func hours() throws {
        // 1970-01-01, 00:00 UTC.
        for (start, end, minutes) in [
            (60, 120, [60, 119]), (1_320, 420, [1_320, 1_439, 0, 419]), (0, 1, [0]), (1_439, 0, [1_439]),
        ] {
            var rules = MuteRules()
            rules.hours = [MuteRules.Hours(from: start, to: end)]
            let utc = try #require(TimeZone(secondsFromGMT: 0))
            for minute in 0..<1_440 {
                let isWithin = start < end ? minute >= start && minute < end : minute >= start || minute < end
                let now = Timestamp(clamping: Int64(minute) * 60 + 59)
                #expect(rules.areQuiet(at: now, in: utc) == isWithin)
                // In a zone that is 90 minutes ahead, and one that is behind.
                for seconds in [5_400, -5_400] {
                    let zone = try #require(TimeZone(secondsFromGMT: seconds))
                    let local = Timestamp(clamping: 86_400 + Int64(minute) * 60 - Int64(seconds))
                    #expect(rules.areQuiet(at: local, in: zone) == isWithin)
                }
            }
            #expect(minutes.allSatisfy { rules.areQuiet(at: Timestamp(clamping: Int64($0) * 60), in: utc) })
        }
        #expect(!MuteRules().areQuiet(at: .now(), in: .current))
    }

    @Test("In quiet hours, messages are silent, but not suppressed") func quietHours() async throws {
        var rules = MuteRules()
        rules.hours = [MuteRules.Hours(from: 0, to: 720), MuteRules.Hours(from: 720, to: 0)]
        try rules.save(in: fixture.root, at: .now())
        expect(await show(try message()), .quiet, badge: 1)
    }

    @Test("A critical message is never muted") func critical() async throws {
        var rules = MuteRules()
        rules.threads = ["lunch": .always]
        rules.hours = [MuteRules.Hours(from: 0, to: 720), MuteRules.Hours(from: 720, to: 0)]
        try rules.save(in: fixture.root, at: .now())
        let loud = await show(try message { $0.sound = .critical(name: "bell.caf", volume: 1) })
        #expect(loud.sound != nil && loud.interruptionLevel == .timeSensitive)
        #expect(await show(try message { $0.interruptionLevel = .critical }).interruptionLevel == .critical)
    }

    @Test(
        "With damaged rules, nothing is muted, and the log says so",
        arguments: [
            "", "{}", "[]", #"{"threads":{},"people":{},"senders":{}}"#,
            #"{"threads":{},"people":{},"senders":{},"hours":[],"more":1}"#,
            #"{"threads":{"lunch":true},"people":{},"senders":{},"hours":[]}"#,
            #"{"threads":{},"people":[],"senders":{},"hours":[]}"#,
            #"{"threads":{},"people":{"a":-1},"senders":{},"hours":[]}"#,
            #"{"threads":{},"people":{},"senders":{"pushsender1":null},"hours":[]}"#,
            #"{"threads":{"lunch":null},"people":{},"senders":{},"hours":[[0]]}"#,
            #"{"threads":{"lunch":null},"people":{},"senders":{},"hours":[[0,0]]}"#,
            #"{"threads":{"lunch":null},"people":{},"senders":{},"hours":[[0,1440]]}"#,
            #"{"threads":{"lunch":null},"people":{},"senders":{},"hours":["0-1"]}"#,
        ])
    func damaged(text: String) async throws {
        let folder = fixture.root.appending(path: "rules")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: "mute.json"))
        expect(await show(try message()), .none, badge: 1)
        #expect(fixture.log.compactMap { $0.stage == nil ? nil : $0.description } == ["MuteStage unreadable"])
    }

    #if !canImport(Darwin)
    @Test("A message from before the first unlock that is suppressed later removes its safe default")
    func locked() async throws {
        var rules = MuteRules()
        rules.threads = ["lunch": .always]
        try rules.save(in: fixture.root, at: .now())
        let shown = await fixture.show(
            try message(), identifier: "one",
            by: fixture.configuration(keys: WatchedItems(fixture.keys, .failing(.locked))))
        let request = UNNotificationRequest(identifier: "one", content: shown, trigger: nil)
        nonisolated(unsafe) let center = UNUserNotificationCenter()
        center.deliver(UNNotification(request: request, date: .now))
        var app = app([MuteStage()], hasEntitlement: true)
        app.environment.center = { center }
        #expect(await app.reopened(UNNotification(request: request, date: .now)) == nil)
        #expect(center.notifications.isEmpty)
    }
    #endif
}
