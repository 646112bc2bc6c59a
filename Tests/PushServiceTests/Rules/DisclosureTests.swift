import Foundation
import PushCore
import PushSender
import PushServiceTesting
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

/// ContentParts 26.
@Suite("What a notification shows of its message") struct DisclosureTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A message with a secret in every member that a notification or its user info can contain.
    private func secret(_ level: Content.Disclosure, of person: Content.Person? = Self.nina) -> Content {
        var content = Content(title: "SECRET", subtitle: "SECRET", body: "SECRET", data: ["key": "SECRET"])
        (content.threadID, content.category, content.relevanceScore) = ("SECRET", "SECRET", 0.75)
        (content.sound, content.badge, content.interruptionLevel) = (.named("SECRET"), 3, .timeSensitive)
        content.other = ["SECRET": "SECRET"]
        (content.person, content.disclosure) = (person, level)
        return content
    }

    private static let nina = Content.Person(name: "Nina", id: "user-17", image: .bytes([1, 2, 3]))

    /// Everything in a notification that the system can keep, as text.
    private func everything(in shown: UNNotificationContent) -> String {
        let texts = [
            shown.title, shown.subtitle, shown.body, shown.threadIdentifier, shown.categoryIdentifier,
            shown.launchImageName, shown.targetContentIdentifier ?? "", shown.filterCriteria ?? "",
            "\(shown.userInfo)", "\(String(describing: shown.sound))",
            shown.attachments.map { "\($0.identifier) \($0.url)" }.joined(),
        ]
        return texts.joined(separator: "\n")
    }

    private func expect(
        _ shown: UNNotificationContent, _ level: Content.Disclosure, hasPerson: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let all = everything(in: shown)
        let sealed = try #require(SealedNotification(userInfo: shown.userInfo), sourceLocation: sourceLocation)
        #expect(sealed.disclosure == level && sealed.reason == nil, sourceLocation: sourceLocation)
        #expect(sealed.id != nil && sealed.sent != nil && sealed.sender != nil, sourceLocation: sourceLocation)
        // At every level, the message counts and interrupts as its sender asked.
        #expect(shown.badge == 3 && shown.interruptionLevel == .timeSensitive, sourceLocation: sourceLocation)
        #expect(all.contains("SECRET") == (level == .full), "\(all)", sourceLocation: sourceLocation)
        #expect((sealed.envelope == nil) == (level == .full), sourceLocation: sourceLocation)
        switch level {
        case .full: #expect(shown.body == "SECRET" && sealed.data != nil, sourceLocation: sourceLocation)
        case .sender:
            #expect(shown.title == "Nina" && shown.body == "local default", sourceLocation: sourceLocation)
        case .generic:
            #expect(shown.title == "App" && shown.body == "local default", sourceLocation: sourceLocation)
            #expect(!all.contains("Nina") && !all.contains("user-17"), sourceLocation: sourceLocation)
        }
        guard level != .full else { return }
        #expect(sealed.data == nil && sealed.other == [:] && shown.relevanceScore == 0, sourceLocation: sourceLocation)
        #expect(shown.sound == .default, sourceLocation: sourceLocation)
        #if !canImport(Darwin)
        let nina = CommunicationSender(name: "Nina", conversation: "user-17", image: Data([1, 2, 3]))
        #expect(shown.communication == (level == .sender ? nina : nil), sourceLocation: sourceLocation)
        #endif
    }

    @Test("The strictest of the sender's level, the app's level, and the person's counts", arguments: levels)
    func strictest(sealed: Content.Disclosure) async throws {
        let field = { try fixture.seal(secret(sealed)) }
        try expect(await fixture.show(try field()), sealed)
        for all in Self.levels {
            for person in Self.levels {
                try DisclosureRules(level: all, people: ["user-17": person, "user-18": .generic]).save(in: fixture.root)
                try expect(await fixture.show(try field()), [sealed, all, person].max()!)
            }
        }
        #expect(fixture.log.allSatisfy { $0.stage == nil })
    }

    private static let levels = Content.Disclosure.allCases

    @Test("Without a person, a message at the sender's level shows only the generic text") func nobody() async throws {
        try expect(await fixture.show(try fixture.seal(secret(.sender, of: nil))), .generic)
        // A rule for a person says nothing about a message without one.
        try DisclosureRules(people: ["user-17": .generic]).save(in: fixture.root)
        try expect(await fixture.show(try fixture.seal(secret(.full, of: nil))), .full)
    }

    @Test("Rules come back as they were saved, and the last ones count") func saved() throws {
        let container = SharedContainer.folder(fixture.folder.url)
        #expect(try DisclosureRules(savedIn: container) == DisclosureRules())
        for level in Self.levels {
            let rules = DisclosureRules(
                level: level, people: ["a\"b": .sender, "ä": .generic, "": .full], accounts: ["nina": level])
            try rules.save(in: container)
            #expect(try DisclosureRules(savedIn: container) == rules)
        }
        let many = DisclosureRules(people: ["x" + String(repeating: "y", count: 131_072): .full])
        #expect(throws: RulesError.tooMany) { try many.save(in: container) }
        let long = DisclosureRules(people: [String(repeating: "x", count: 257): .full])
        #expect(throws: RulesError.tooMany) { try long.save(in: container) }
        #expect(try DisclosureRules(savedIn: container).level == .generic)
        let both = DisclosureRules(people: ["user-17": .sender], accounts: ["nina": .generic])
        let person = Content.Person(name: "Nina", id: "user-17")
        #expect(both.level(of: person, in: nil) == .sender && both.level(of: person, in: "nina") == .generic)
        #expect(both.level(of: nil, in: "nina") == .generic && both.level(of: nil, in: "ben") == .full)
        let missing = SharedContainer.appGroup("group.not.there")
        #expect(throws: RulesError.unreadable) { try DisclosureRules(savedIn: missing) }
        #expect(throws: RulesError.notWritten) { try DisclosureRules().save(in: missing) }
    }

    @Test(
        "With damaged rules, every message shows only the generic text, and the log says so",
        arguments: [
            "", "{", "null", "[]", "\u{fe}", #"{"level":"full","accounts":{}}"#, #"{"people":{},"accounts":{}}"#,
            #"{"level":"full","people":{}}"#, #"{"level":"none","people":{},"accounts":{}}"#,
            #"{"level":0,"people":{},"accounts":{}}"#, #"{"level":"full","people":[],"accounts":{}}"#,
            #"{"level":"full","people":{"a":"x"},"accounts":{}}"#,
            #"{"level":"full","people":{},"accounts":{"a":"x"}}"#,
            #"{"level":"full","people":{"a":null},"accounts":{}}"#,
            #"{"level":"full","people":{},"accounts":{},"more":1}"#,
            #"{"level":"full","people":{},"accounts":{"":"full"}}"#,
            #"{"level":"full","level":"full","people":{},"accounts":{}}"#,
            #"{"level":"full","people":{},"accounts":{}}"# + String(repeating: " ", count: 131_072),
        ])
    func damaged(text: String) async throws {
        try write(Array(text.utf8))
        #expect(throws: RulesError.unreadable) { try DisclosureRules(in: fixture.root) }
        try expect(await fixture.show(try fixture.seal(secret(.full))), .generic)
        #expect(fixture.log.map(\.description).filter { $0.contains("Rules") } == ["DisclosureRules unreadable"])
        // Saving repairs them.
        try DisclosureRules().save(in: fixture.root)
        try expect(await fixture.show(try fixture.seal(secret(.full))), .full)
    }

    @Test("Rules that are cut, or aren't a file, can't be read") func cut() throws {
        let bytes = Array(#"{"level":"full","people":{"user-17":"generic"},"accounts":{}}"#.utf8)
        for count in 0..<bytes.count {
            try write(Array(bytes[..<count]))
            #expect(throws: RulesError.unreadable) { try DisclosureRules(in: fixture.root) }
        }
        let file = fixture.root.appending(path: "rules/disclosure.json")
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "nowhere")
        #expect(throws: RulesError.unreadable) { try DisclosureRules(in: fixture.root) }
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(throws: RulesError.unreadable) { try DisclosureRules(in: fixture.root) }
    }

    private func write(_ bytes: [UInt8]) throws {
        let folder = fixture.root.appending(path: "rules")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: folder.appending(path: "disclosure.json"))
    }

    /// Sets a level and adds texts and a file.
    private struct Stage: ServiceStage {
        let level: Content.Disclosure

        func improve(_ draft: NotificationDraft, in context: StageContext) async throws -> NotificationDraft {
            var draft = draft
            (draft.disclosure, draft.title, draft.data) = (level, "SECRET", "SECRET")
            let file = try context.scratchFile(named: "SECRET.png")
            try Data([1]).write(to: file)
            draft.attachments = [DraftAttachment(identifier: "SECRET", file: file, type: "public.png")]
            return draft
        }
    }

    @Test("A stage can show less, but never more, and no file of its own is left", arguments: levels)
    func stages(sealed: Content.Disclosure) async throws {
        for level in Self.levels {
            let shown = await fixture.show(try fixture.seal(secret(sealed)), stages: [Stage(level: level)])
            try expect(shown, max(sealed, level))
            let left = try FileManager.default.subpathsOfDirectory(atPath: fixture.scratchRoot.path)
            #expect(left.contains { $0.hasSuffix(".png") } == (max(sealed, level) == .full), "\(left)")
            try FileManager.default.removeItem(at: fixture.scratchRoot)
        }
    }

    @Test("Of several stages' levels, the strictest counts, in any order") func severalStages() async throws {
        for first in Self.levels {
            for second in Self.levels {
                let stages = [Stage(level: first), Stage(level: second)]
                try expect(await fixture.show(try fixture.seal(secret(.full)), stages: stages), max(first, second))
                try FileManager.default.removeItem(at: fixture.scratchRoot)
            }
        }
    }

    private func draft(_ content: Content) throws -> NotificationDraft? {
        let opening = PushOpening(fixture.configuration(), environment: fixture.environment())
        let presentation = opening.present(field: try fixture.seal(content), requestIdentifier: UUID().uuidString)
        guard case .opened(let draft) = presentation else { return nil }
        return draft
    }

    @Test("Only files that the notification shows are fetched: all, the person's picture, or none") func files() throws
    {
        let url = try #require(URL(string: "https://files.example.com/a"))
        let file = RemoteFile(url: url, byteCount: 9, hash: [UInt8](repeating: 0, count: 32), key: nil)
        var content = secret(.full, of: Content.Person(name: "Nina", id: "user-17", image: .attachment("face")))
        content.attachments = ["photo", "face"].map { Content.Attachment(id: $0, file: file, type: .png) }
        for (level, positions) in [(Content.Disclosure.full, [0, 1]), (.sender, [1]), (.generic, [])] {
            content.disclosure = level
            let draft = try #require(try draft(content))
            #expect(MediaStage().parts(of: draft).map(\.filePosition) == positions)
        }
    }

    @Test("The whole content of a message shows no more than its first part, and follows the rules, too")
    func whole() throws {
        try DisclosureRules(people: ["user-18": .generic]).save(in: fixture.root)
        let omar = Content.Person(name: "Omar", id: "user-18")
        let url = try #require(URL(string: "https://files.example.com/o"))
        let file = RemoteFile(
            url: url, byteCount: 141, hash: [UInt8](repeating: 0, count: 32), key: AttachmentKey())
        func firstPart(_ level: Content.Disclosure, of person: Content.Person? = Self.nina) throws -> NotificationDraft?
        {
            var content = secret(level, of: person)
            content.overflow = Overflow(file: file)
            return try draft(content)
        }
        for (first, second, isSecond, expected) in [
            (Content.Disclosure.full, Content.Disclosure.full, false, Content.Disclosure.full),
            (.sender, .full, false, .sender), (.full, .generic, false, .generic), (.full, .full, true, .generic),
        ] {
            let given = try #require(try firstPart(first))
            var content = given.opened.content
            content.disclosure = second
            if isSecond { content.person = omar }
            let opened = try #require(given.opened.completed(by: content.json))
            var merged = given
            merged.merge(NotificationDraft(opened, completing: given), givenTo: given)
            #expect(merged.shownLevel == expected)
            // The account, with its badge, ledger, and receipts, is that of the first part.
            #expect(given.owner != nil && merged.owner != nil && merged.owner?.id == given.owner?.id)
        }
        // A first part whose person is private, and whose whole content names nobody.
        let given = try #require(try firstPart(.full, of: omar))
        var content = given.opened.content
        content.person = nil
        let opened = try #require(given.opened.completed(by: content.json))
        #expect(NotificationDraft(opened, completing: given).shownLevel == .generic)
    }

    @Test("A repeat stays as private as the message was") func repeats() async throws {
        let field = try fixture.seal(secret(.generic))
        try expect(await fixture.show(field, identifier: "one"), .generic)
        let again = await fixture.show(field, identifier: "one")
        #expect(!everything(in: again).contains("SECRET") && again.body == "local default")
    }

    @Test("The app gets the data that a notification doesn't contain, from its envelope") func completes() async throws
    {
        let app = fixture.configuration()
        for level in Self.levels {
            let shown = await fixture.show(try fixture.seal(secret(level)), identifier: "one")
            let request = UNNotificationRequest(identifier: "one", content: shown, trigger: nil)
            let completed = try #require(await app.complete(request))
            #expect(completed.data == ["key": "SECRET"] && completed.other == ["SECRET": "SECRET"])
            #expect(completed.disclosure == level)
            guard let envelope = completed.envelope else { continue }
            let opened = try await app.open(envelope: envelope, requestIdentifier: "one")
            #expect(opened.content.alert.body == "SECRET" && opened.content.threadID == "SECRET")
            // Under another identifier, or without the key, nobody gets more than the notification shows.
            let other = UNNotificationRequest(identifier: "two", content: shown, trigger: nil)
            #expect(await app.complete(other)?.data == nil)
            let keyless = fixture.configuration(keys: InMemorySecretItems())
            #expect(await keyless.complete(request)?.data == nil)
        }
        #expect(await app.complete(Fixture.request(field: nil)) == nil)
    }

    #if !canImport(Darwin)
    @Test("A message from before the first unlock is opened at its level, and not again") func locked() async throws {
        let locked = fixture.configuration(keys: WatchedItems(fixture.keys, .failing(.locked)))
        let shown = await fixture.show(try fixture.seal(secret(.generic)), identifier: "one", by: locked)
        func notification(_ content: UNNotificationContent) -> UNNotification {
            let request = UNNotificationRequest(identifier: "one", content: content, trigger: nil)
            return UNNotification(request: request, date: .now)
        }
        let app = fixture.configuration()
        let content = try #require(await app.reopened(notification(shown))).content
        #expect(!everything(in: content).contains("SECRET") && content.body == "local default")
        #expect(SealedNotification(userInfo: content.userInfo)?.disclosure == .generic)
        #expect(await app.reopened(notification(content)) == nil)
    }
    #endif
}
