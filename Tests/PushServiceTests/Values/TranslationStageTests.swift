import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

/// ContentParts 17.3.
@Suite("Translations") struct TranslationStageTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func show(
        _ texts: [String: String], title: Content.Translation? = nil, body: Content.Translation?,
        isTemplate: Bool = false
    ) async throws -> UNNotificationContent {
        var content = Content(title: "sealed title", subtitle: "sealed subtitle", body: "sealed body")
        (content.alert.titleTranslation, content.alert.bodyTranslation) = (title, body)
        content.isTemplate = isTemplate
        return await fixture.show(
            try fixture.seal(content),
            stages: [TranslationStage { texts[$0] }, PlaceholderStage(fallback: "Open the app.")])
    }

    @Test("A text that the app has replaces the sealed one, and the others stay") func replaces() async throws {
        let shown = try await show(
            ["FROM": "Von %@", "LUNCH": "%2$@: Essen mit %1$@ um %2$@? 100%%"],
            title: Content.Translation(key: "FROM", arguments: ["Nina"]),
            body: Content.Translation(key: "LUNCH", arguments: ["Nina", "eins", "left over"]))
        #expect(shown.title == "Von Nina" && shown.subtitle == "sealed subtitle")
        #expect(shown.body == "eins: Essen mit Nina um eins? 100%")
        #expect(fixture.log.allSatisfy { $0.failure == nil })
    }

    @Test("If one text is missing or unusable, all stay as sealed, and the log says why")
    func staysAsSealed() async throws {
        let title = Content.Translation(key: "FROM", arguments: ["Nina"])
        for (format, reason) in [
            (nil, "no-such-text"), ("%d", "unusable-format"), ("%n", "unusable-format"), ("%@ %@", "unusable-format"),
            ("100% sure", "unusable-format"),
        ] as [(String?, String)] {
            let fixture = try Fixture()
            var content = Content(title: "sealed title", body: "sealed body")
            content.alert.titleTranslation = title
            content.alert.bodyTranslation = Content.Translation(key: "LUNCH", arguments: ["Nina"])
            let stage = TranslationStage { $0 == "FROM" ? "Von %@" : format }
            let shown = await fixture.show(try fixture.seal(content), stages: [stage])
            #expect(shown.title == "sealed title" && shown.body == "sealed body", "\(reason)")
            #expect(fixture.log.contains { $0.failure == reason }, "\(reason)")
        }
    }

    @Test("Texts that would show nothing stay as sealed") func invisible() async throws {
        var content = Content(body: "sealed body")
        content.alert.bodyTranslation = Content.Translation(key: "LUNCH", arguments: [" "])
        let shown = await fixture.show(try fixture.seal(content), stages: [TranslationStage { _ in "%@" }])
        #expect(shown.body == "sealed body")
    }

    @Test("In a template, the placeholders of the app's text are filled; in another message, they're text")
    func templates() async throws {
        try SharedValues(in: fixture.root).replaceAll(with: ["quote": "Less, but better."])
        let body = Content.Translation(key: "QUOTE")
        #expect(try await show(["QUOTE": "{{quote}}"], body: body, isTemplate: true).body == "Less, but better.")
        #expect(try await show(["QUOTE": "{{quote}}"], body: body).body == "{{quote}}")
    }

    @Test("A text longer than 8,192 bytes is cut") func cut() async throws {
        let body = Content.Translation(key: "LONG", arguments: [String(repeating: "é", count: 200)])
        let shown = try await show(["LONG": String(repeating: "%1$@", count: 100)], body: body)
        #expect(shown.body.utf8.count <= 8_192 && shown.body.hasSuffix("é…"))
    }

    @Test(
        "A format is filled only with what the message has, and never read as C would",
        arguments: [
            ("", ""), ("%@", "a"), ("%@%@", "ab"), ("%2$@%1$@", "ba"), ("%2$@%@%@", "bab"), ("%%@", "%@"),
            ("é%@é", "éaé"),
            ("%@%%%@", "a%b"), ("%1$@%1$@", "aa"), ("%", nil), ("%@%", nil), ("%@%@%@", nil), ("%3$@", nil),
            ("%0$@", nil),
            ("%01$@", nil), ("%1$", nil), ("%1@", nil), ("%1$d", nil), ("%d", nil), ("%n", nil), ("%s", nil),
            ("%*@", nil),
            ("%-5@", nil), ("%.1@", nil), ("%ld", nil), ("%#@count@", nil), ("% @", nil), ("%\u{301}@", nil),
            ("%99999999999999999999$@", nil), ("%-1$@", nil), ("%\u{661}$@", nil),
        ] as [(String, String?)])
    func formats(format: String, filled: String?) {
        #expect(TextFormat.fill(format, with: ["a", "b"]) == filled)
        // An argument isn't read as a format.
        #expect(TextFormat.fill("%@|%@", with: ["%@", "%n"]) == "%@|%n")
    }

    @Test("An app's texts are found from the app and from its extension, in the preferred language") func bundles()
        throws
    {
        let folder = try TemporaryFolder()
        for place in ["de.lproj", "en.lproj", "PlugIns/NSE.appex/en.lproj"] {
            try FileManager.default.createDirectory(
                at: folder.appending("Chat.app/\(place)"), withIntermediateDirectories: true)
        }
        try folder.write(#""LUNCH" = "Essen um %@?"; "HELLO" = "Hallo";"#, to: "Chat.app/de.lproj/Localizable.strings")
        try folder.write(#""LUNCH" = "Lunch at %@?";"#, to: "Chat.app/en.lproj/Localizable.strings")
        try folder.write(
            #""LUNCH" = "the extension's";"#, to: "Chat.app/PlugIns/NSE.appex/en.lproj/Localizable.strings")
        for place in ["Chat.app", "Chat.app/PlugIns/NSE.appex"] {
            let texts = AppTexts(of: folder.appending(place))
            #expect(texts.text("LUNCH", for: ["en-GB", "de"]) == "Lunch at %@?")
            #expect(texts.text("LUNCH", for: ["de-CH"]) == "Essen um %@?")
            #expect(texts.text("HELLO", for: ["en"]) == nil)
            #expect(texts.text("NONE", for: ["de"]) == nil && texts.text("", for: ["de"]) == nil)
        }
        #expect(AppTexts(of: folder.appending("None.app")).text("LUNCH", for: ["en"]) == nil)
    }
}
