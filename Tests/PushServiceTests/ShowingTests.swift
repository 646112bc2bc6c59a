import Dispatch
import Foundation
import PushCore
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("The notification that is shown") struct ShowingTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test("An authentic message replaces the alert, and nothing from the wire is shown")
    func opened() async throws {
        var content = Content(
            title: "Nina", subtitle: "to you", body: "Lunch at 1? 100% sure",
            data: ["room": 4, "free": [.null, true, 1.5]])
        content.badge = 3
        content.threadID = "nina"
        content.category = "chat"
        content.sound = .named("ping.caf")
        content.relevanceScore = 0.25
        content.filterCriteria = "friends"
        content.targetContentID = "room-7"
        content.interruptionLevel = .timeSensitive
        content.other = ["mood": "good"]
        let shown = await fixture.show(try fixture.seal(content))
        #expect(shown.title == "Nina")
        #expect(shown.subtitle == "to you")
        #expect(shown.body == "Lunch at 1? 100% sure")
        #expect(shown.badge == 3)
        #expect(shown.threadIdentifier == "nina")
        #expect(shown.categoryIdentifier == "chat")
        #expect(shown.sound == UNNotificationSound(named: UNNotificationSoundName("ping.caf")))
        #expect(shown.relevanceScore == 0.25)
        #expect(shown.filterCriteria == "friends")
        #expect(shown.targetContentIdentifier == "room-7")
        #expect(shown.interruptionLevel == .timeSensitive)
        expectNothingOfTheWire(shown)
        let read = try #require(SealedNotification(userInfo: shown.userInfo))
        #expect(read.reason == nil)
        #expect(read.sender == fixture.sender.sender)
        #expect(read.data == ["room": 4, "free": [.null, true, 1.5]])
        #expect(read.other == ["mood": "good"])
        #expect(read.envelope == nil)
        #expect(read.id != nil)
        struct Room: Decodable { let room: Int }
        #expect(try read.decode(Room.self).room == 4)
        #expect(throws: DecodingError.self) { try read.decode(String.self) }
    }

    @Test("A field that the content omits is empty, not the wire's") func sparse() async throws {
        let shown = await fixture.show(try fixture.seal(Content(body: "b")))
        #expect(shown.body == "b")
        let texts = [shown.title, shown.subtitle, shown.threadIdentifier, shown.categoryIdentifier]
        #expect(texts.allSatisfy { $0.isEmpty })
        #expect(shown.badge == nil)
        #expect(shown.sound == nil)
        #expect(shown.relevanceScore == 0)
        #expect(shown.filterCriteria == nil && shown.targetContentIdentifier == nil)
        #expect(shown.interruptionLevel == .active)
        expectNothingOfTheWire(shown)
    }

    @Test(
        "Whatever is wrong with the field, the safe default is shown, and nothing from the wire",
        arguments: ["", "AQ", "not base64!", "AAAA", String(repeating: "A", count: 9_000)])
    func broken(field: String) async throws {
        expectSafeDefault(await fixture.show(field), field == "AAAA" ? .unknownSuite : .malformed)
    }

    @Test("A field that is missing or isn't a string is malformed") func noField() async throws {
        for field in [nil, 7, ["a"], ["a": 1], NSNull()] as [Any?] {
            expectSafeDefault(await fixture.show(field), .malformed)
        }
    }

    @Test("In an app that gets plain pushes, they pass unchanged, and can't claim to be sealed")
    func plain() async throws {
        let configuration = fixture.configuration(receivesPlainPushes: true)
        let shown = await fixture.show(nil, by: configuration)
        #expect(shown.title == "WIRE")
        #expect(shown.badge == 99)
        #expect(shown.userInfo["WIRE"] as? String == "WIRE")
        #expect(shown.userInfo["sealed-push"] == nil)
        #expect(SealedNotification(userInfo: shown.userInfo) == nil)
        // A broken envelope still counts as one.
        expectSafeDefault(await fixture.show("AQ", by: configuration), .malformed)
    }

    @Test("The app trusts only user info that the service module made") func claims() {
        let claim: [String: Any] = ["outcome": "opened", "id": "x"]
        let unknown: [String: Any] = ["outcome": "safe-default", "reason": "no such code"]
        #expect(SealedNotification(userInfo: ["sealed-push": unknown]) == nil)
        #expect(SealedNotification(userInfo: ["sealed-push": claim]) != nil)
        #expect(SealedNotification(userInfo: ["sealed-push": claim, "aps": ["alert": "x"]]) == nil)
        #expect(SealedNotification(userInfo: ["sealed-push": claim, "x": 1]) == nil)
        #expect(SealedNotification(userInfo: ["sealed-push": "opened"]) == nil)
        #expect(SealedNotification(userInfo: [:]) == nil)
        #expect(SealedNotification(userInfo: ["sealed-push": ["outcome": "opened", "reason": "rejected"]]) == nil)
    }

    // Apple's content doesn't reveal its sender.
    #if !canImport(Darwin)
    @Test("No property of the wire's content reaches the screen, however many the system adds")
    func everyProperty() async throws {
        /// Returns all stored properties by name.
        func properties(_ content: UNNotificationContent) throws -> [String: String] {
            let values = try #require(Mirror(reflecting: content.copy()).children.first { $0.label == "values" }?.value)
            return Dictionary(
                uniqueKeysWithValues: Mirror(reflecting: values).children.map { ($0.label ?? "", "\($0.value)") })
        }
        let fresh = try properties(UNNotificationContent())
        #expect(fresh.count >= 15)
        for field in [try fixture.seal(Content(body: "b")), "AQ"] {
            let request = Fixture.request(field: field)
            let wire = try properties(request.content)
            // A payload can't name a file or a person. A property that this fails for is new: set it in the fixture.
            for name in fresh.keys where !["attachments", "communication"].contains(name) {
                #expect(wire[name] != fresh[name], "the fixture doesn't set \(name)")
            }
            let shown = try properties(await fixture.show(field))
            // The safe default has the system's sound.
            let own = ["title", "body", "userInfo"] + (field == "AQ" ? ["sound"] : [])
            for (name, value) in shown where !own.contains(name) {
                #expect(value == fresh[name], "\(name)")
            }
            #expect(shown["body"] == (field == "AQ" ? "local default" : "b"))
        }
    }

    @Test("Only a known person's message is shown with their name and picture")
    func persons() async throws {
        var content = Content(title: "Nina", body: "Lunch?")
        content.threadID = "lunch"
        content.person = Content.Person(name: "Nina", id: "user-17", image: .bytes([1, 2, 3]))
        let shown = await fixture.show(try fixture.seal(content))
        #expect(
            shown.communication
                == CommunicationSender(name: "Nina", conversation: "lunch", image: Data([1, 2, 3])))
        #expect(shown.body == "Lunch?" && SealedNotification(userInfo: shown.userInfo)?.reason == nil)
        var titled = Content(title: "Order shipped")
        titled.person = Content.Person(name: "Shop", id: "1")
        let order = await fixture.show(try fixture.seal(titled))
        #expect(order.title == "Shop" && order.body == "Order shipped")
        content.person = nil
        #expect(await fixture.show(try fixture.seal(content)).communication == nil)

        content.person = Content.Person(name: "Nina", id: "user-17")
        let sealer = Sealer(anonymousFor: Fixture.topic, safeDefault: "wire default")
        let box = try sealer.seal(content, toUnverified: fixture.phone.recipient).envelope.text
        let anonymous = await fixture.show(box, by: fixture.configuration(allowsAnonymous: true))
        #expect(anonymous.title == "Nina" && anonymous.communication == nil)
    }

    @Test("A group's message has its name and picture, and enough recipients for the system to show them")
    func groups() async throws {
        var content = Content(title: "Nina", body: "Lunch?")
        content.person = Content.Person(name: "Nina", id: "user-17", image: .bytes([1]))
        for (recipients, count, expected) in [
            ([], nil, 2), (["Ole"], nil, 2), (["Ole", "Pia", "Kim"], nil, 3), ([], 40, 40),
        ]
            as [([String], Int?, Int)]
        {
            content.group = Content.Group(
                name: "Lunch club", image: .bytes([2]), recipients: recipients.map { .init(name: $0, id: $0) },
                count: count)
            let shown = await fixture.show(try fixture.seal(content))
            let message = try #require(shown.communication)
            #expect(message.group == "Lunch club" && message.groupImage == Data([2]) && message.image == Data([1]))
            #expect(message.recipients == recipients && message.recipientCount == expected)
            #expect(message.conversation == "Lunch club" && message.contact == nil)
            #expect(shown.title == "Nina" && shown.subtitle == "Lunch club" && shown.body == "Lunch?")
        }
        content.threadID = "lunch"
        #expect(await fixture.show(try fixture.seal(content)).communication?.conversation == "lunch")
        content.person = nil
        content.group = nil
        #expect(await fixture.show(try fixture.seal(content)).communication == nil)
    }

    @Test("The phone names its own contacts for the author and the recipients, and an error costs only one")
    func contacts() async throws {
        struct NoContact: Error {}
        let stage = ContactStage { id, _ in
            switch id {
            case "user-17": Contact(identifier: "ABC:ABPerson", name: "Nina N.", handle: .phoneNumber("+4512345678"))
            case "user-18": Contact(name: "Ole O.", handle: .emailAddress("ole@example.com"))
            case "user-19": nil
            default: throw NoContact()
            }
        }
        var content = Content(title: "Nina", body: "Lunch?")
        content.person = Content.Person(name: "Nina", id: "user-17")
        content.group = Content.Group(
            name: "Lunch club",
            recipients: ["20", "18", "19"].map { .init(name: "recipient \($0)", id: "user-\($0)") })
        let shown = await fixture.show(try fixture.seal(content), stages: [stage])
        #expect(shown.communication?.name == "Nina N." && shown.communication?.contact == "ABC:ABPerson")
        #expect(shown.communication?.recipients == ["recipient 20", "Ole O.", "recipient 19"])
        content.person = Content.Person(name: "Ole", id: "user-18")
        #expect(
            await fixture.show(try fixture.seal(content), stages: [stage]).communication?.contact == "ole@example.com")
        content.person = Content.Person(name: "Pia", id: "user-20")
        let unknown = await fixture.show(try fixture.seal(content), stages: [stage])
        #expect(unknown.communication?.name == "Pia" && unknown.communication?.contact == nil)
    }

    @Test("The picture may be an attachment that isn't shown otherwise; without it, there is only the name")
    func pictures() async throws {
        struct Stage: ServiceStage {
            let bytes: [UInt8]?
            func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
                var draft = draft
                draft.person = Content.Person(name: "Nina", id: "user-17", image: .attachment("avatar"))
                guard let bytes else { return draft }
                let file = try context.scratchFile(named: "avatar.png")
                try Data(bytes).write(to: file)
                draft.attachments = [DraftAttachment(identifier: "avatar", file: file, type: "public.png")]
                return draft
            }
        }
        for bytes in [nil, [1, 2, 3], [UInt8](repeating: 1, count: 512 << 10 + 1)] as [[UInt8]?] {
            let shown = await fixture.show(try fixture.seal(), stages: [Stage(bytes: bytes)])
            #expect(shown.attachments.isEmpty)
            #expect(shown.communication?.name == "Nina" && shown.communication?.conversation == "user-17")
            #expect(shown.communication?.image == (bytes?.count == 3 ? Data([1, 2, 3]) : nil))
        }
        let left = try FileManager.default.subpathsOfDirectory(atPath: fixture.scratchRoot.path)
        #expect(left.allSatisfy { !$0.hasSuffix(".png") }, "\(left)")
    }
    #endif

    @Test("A notification without data decodes as null") func noData() throws {
        let read = try #require(SealedNotification(userInfo: ["sealed-push": ["outcome": "opened"]]))
        #expect(try read.decode(Int?.self) == nil)
        #expect(throws: DecodingError.self) { try read.decode(Int.self) }
    }

    // Apple's classes of what was delivered have no public initializers.
    #if !canImport(Darwin)
    @Test("A message that came while the device was locked is opened later with all stages")
    func reopened() async throws {
        let locked = WatchedItems(fixture.keys, .failing(.locked))
        var content = Content(title: "{{name}}", body: "Lunch?")
        content.isTemplate = true
        content.data = ["thread": "lunch"]
        let field = try fixture.seal(content)
        let stage = PlaceholderStage(fallback: "Open the app.")
        let values = try #require(SharedValues(container: .folder(fixture.folder.url)))
        try values.replaceAll(with: ["name": "Nina"])
        let shown = await fixture.show(field, identifier: "one", by: fixture.configuration(keys: locked))
        let notification = UNNotification(
            request: UNNotificationRequest(identifier: "one", content: shown, trigger: nil), date: .now)

        // While it's locked, the safe default stays.
        #expect(await fixture.configuration(keys: locked).reopened(notification) == nil)
        let app = fixture.configuration(stages: [stage])
        let request = try #require(await app.reopened(notification))
        #expect(request.identifier == "one" && request.trigger == nil)
        #expect(request.content.title == "Nina" && request.content.body == "Lunch?")
        let sealed = try #require(SealedNotification(userInfo: request.content.userInfo))
        #expect(sealed.reason == nil && sealed.envelope == nil && sealed.data == ["thread": "lunch"])
        #expect(fixture.log.map(\.reason) == [.locked, .locked, nil])

        // Once it has opened, no envelope is left to open, and under another identifier it's a replay.
        let opened = UNNotification(request: request, date: .now)
        #expect(await app.reopened(opened) == nil)
        let other = UNNotification(
            request: UNNotificationRequest(identifier: "two", content: shown, trigger: nil), date: .now)
        let replay = try #require(await app.reopened(other))
        #expect(replay.content.body == "local default")
        #expect(SealedNotification(userInfo: replay.content.userInfo)?.reason == .replayed)
        #expect(await app.reopened(UNNotification(request: replay, date: .now)) == nil)
    }
    #endif

    @Test("A locked device shows the safe default and keeps the envelope for the app") func locked() async throws {
        let locked = WatchedItems(fixture.keys, .failing(.locked))
        let field = try fixture.seal()
        let shown = await fixture.show(field, by: fixture.configuration(keys: locked))
        expectSafeDefault(shown, .locked)
        #expect(SealedNotification(userInfo: shown.userInfo)?.envelope == field)

        // After the unlock, the app opens it under one identifier, and no longer under another.
        let unlocked = fixture.configuration()
        #expect(try await unlocked.open(envelope: field, requestIdentifier: "one").content.alert.title == "Nina")
        #expect(try await unlocked.open(envelope: field, requestIdentifier: "one").content.alert.title == "Nina")
        await #expect(throws: OpenError.replayed) { try await unlocked.open(envelope: field, requestIdentifier: "two") }
        await #expect(throws: OpenError.malformed) { try await unlocked.open(envelope: "AQ", requestIdentifier: "two") }
    }

    @Test("Malformed content and a failing key store lead to the safe default")
    func otherRefusals() async throws {
        let broken = fixture.configuration(keys: WatchedItems(fixture.keys, .failing(.other(-50))))
        expectSafeDefault(await fixture.show(try fixture.seal(), by: broken), .keysUnavailable)
        let context = SealingContext(
            to: fixture.phone.recipient, from: fixture.sender, info: EnvelopeInfo(topic: Fixture.topic))
        let envelope = context.seal(Array("{}".utf8) + [0x80])
        expectSafeDefault(await fixture.show(envelope.text), .malformedContent)
    }

    @Test("A push that comes a hundred times opens silently in place, but not under another identifier")
    func repeats() async throws {
        var content = Content(title: "t", body: "b")
        content.badge = 1
        content.sound = .named("default")
        content.interruptionLevel = .timeSensitive
        let field = try fixture.seal(content)
        #expect(await fixture.show(field, identifier: "one").sound != nil)
        for _ in 2...100 {
            let again = await fixture.show(field, identifier: "one")
            #expect(again.body == "b")
            #expect(again.sound == nil)
            #expect(again.badge == nil)
            #expect(again.interruptionLevel == .passive)
        }
        expectSafeDefault(await fixture.show(field, identifier: "two"), .replayed)
    }

    @Test("A ledger that can't be reached costs the content, never the notification") func noLedger() async throws {
        let fixture = try Fixture(hasLedger: false)
        // A file is where the container's folder should be made.
        try fixture.folder.write("", to: "SealedPush")
        expectSafeDefault(await fixture.show(try fixture.seal()), .ledgerUnavailable)
        let app = fixture.configuration()
        let missing = ServiceConfiguration(
            topic: app.topic, keys: app.keys, trusting: app.senders, safeDefault: app.safeDefault,
            container: .appGroup("group.not.there"))
        let shown = await fixture.show(try fixture.seal(), by: missing, environment: .system)
        expectSafeDefault(shown, .ledgerUnavailable)
    }

    /// Records that it was called, and takes its time.
    private struct SlowLedger: ReplayLedger {
        let ledger: FileLedger
        var delay: TimeInterval = 0
        let count = Locked(0)

        func record(_ entry: LedgerEntry, at now: Timestamp) throws(LedgerError) -> LedgerAnswer {
            count.withLock { $0 += 1 }
            Thread.sleep(forTimeInterval: delay)
            return try ledger.record(entry, at: now)
        }

        func purge(at now: Timestamp) {}
    }

    @Test("A slow ledger costs nothing while there is time, and the content if there is none")
    func slowLedger() async throws {
        var opening = PushOpening(fixture.configuration(), environment: .system)
        // Longer than the two seconds that a ledger once had.
        opening.ledger = SlowLedger(ledger: fixture.ledger, delay: 2.2)
        let present = { [opening] (field: String, time: Duration) in
            // It waits on a thread that no other test needs.
            await withCheckedContinuation { presented in
                DispatchQueue.global().async {
                    presented.resume(
                        returning: opening.present(field: field, requestIdentifier: field, writeTime: time))
                }
            }
        }
        let late = await present(try fixture.seal(), .milliseconds(1))
        #expect(late.reason == .ledgerUnavailable)
        // Ten minutes in place of 22 seconds, for a machine with a busy disk.
        let inTime = await present(try fixture.seal(), .seconds(600))
        guard case .opened = inTime else {
            Issue.record("a message was lost: \(String(describing: inTime.reason))")
            return
        }
        #expect(LedgerLimits.writeTime == .seconds(22))
    }

    @Test(
        "The ledger may take what the time budget leaves, except for its last three seconds",
        arguments: [
            (Duration.seconds(-600), true), (.seconds(22), false), (.seconds(24), false), (.seconds(40), false),
        ])
    func ledgerTime(passed: Duration, isOpened: Bool) async throws {
        let configuration = fixture.configuration()
        let ledger = SlowLedger(ledger: fixture.ledger)
        var opening = PushOpening(configuration, environment: .system)
        opening.ledger = ledger
        let request = Fixture.request(field: try fixture.seal(Content(body: "in time")))
        let body = await withCheckedContinuation { [opening] shown in
            ServiceRun(
                request, configuration, .system, opening, at: .now - passed,
                handler: { shown.resume(returning: $0.body) }, onEnd: { _ in }
            ).run()
        }
        #expect(body == (isOpened ? "in time" : "local default"))
        #expect(ledger.count.withLock { $0 } == (isOpened ? 1 : 0))
    }
}

/// Checks that nothing the carrier wrote around the field is shown.
func expectNothingOfTheWire(_ shown: UNNotificationContent, sourceLocation: SourceLocation = #_sourceLocation) {
    let texts = [
        shown.title, shown.subtitle, shown.body, shown.threadIdentifier, shown.categoryIdentifier,
        shown.launchImageName, shown.targetContentIdentifier ?? "", shown.filterCriteria ?? "", "\(shown.userInfo)",
    ]
    #expect(texts.allSatisfy { !$0.contains("WIRE") }, sourceLocation: sourceLocation)
    #expect(shown.badge != 99, sourceLocation: sourceLocation)
    #expect(shown.sound != .defaultCritical, sourceLocation: sourceLocation)
    #expect(shown.interruptionLevel != .critical, sourceLocation: sourceLocation)
    #expect(shown.relevanceScore != 0.9, sourceLocation: sourceLocation)
    #expect(Set(shown.userInfo.keys) == ["sealed-push"], sourceLocation: sourceLocation)
}

/// Checks for the app's own default, with this reason.
func expectSafeDefault(
    _ shown: UNNotificationContent, _ reason: OpenError, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(shown.title == "App", sourceLocation: sourceLocation)
    #expect(shown.body == "local default", sourceLocation: sourceLocation)
    let read = SealedNotification(userInfo: shown.userInfo)
    #expect(read?.reason == reason, sourceLocation: sourceLocation)
    #expect((read?.envelope != nil) == (reason == .locked), sourceLocation: sourceLocation)
    #expect(read?.id == nil && read?.sender == nil && read?.data == nil, sourceLocation: sourceLocation)
    expectNothingOfTheWire(shown, sourceLocation: sourceLocation)
}
