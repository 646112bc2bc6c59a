import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing
import UserNotifications

@testable import PushService

@Suite("Placeholders") struct PlaceholderStageTests {
    private let fixture: Fixture
    private let values: SharedValues

    init() throws {
        fixture = try Fixture()
        values = SharedValues(in: fixture.root)
    }

    private func show(
        title: String? = nil, subtitle: String? = nil, body: String?, isTemplate: Bool = true
    ) async throws -> UNNotificationContent {
        var content = Content(title: title, subtitle: subtitle, body: body)
        content.isTemplate = isTemplate
        return await fixture.show(try fixture.seal(content), stages: [PlaceholderStage(fallback: "Open the app.")])
    }

    @Test("Placeholders are filled with the app's values in the title, subtitle, and body") func filled() async throws {
        try values.replaceAll(with: ["quote": "Less, but better.", "name": "Nina", "a.B-c_9": "x"])
        let shown = try await show(
            title: "For {{name}}", subtitle: "{{a.B-c_9}}{{name}}", body: "“{{quote}}”, {{name|somebody}} \u{1f600}")
        #expect(shown.title == "For Nina")
        #expect(shown.subtitle == "xNina")
        #expect(shown.body == "“Less, but better.”, Nina \u{1f600}")
    }

    @Test("Placeholders are ordinary text in a message that isn't a template") func noTemplate() async throws {
        try values.replaceAll(with: ["quote": "Less, but better."])
        #expect(try await show(body: "{{quote}}", isTemplate: false).body == "{{quote}}")
    }

    @Test("Placeholders take the fallback if there is no value, or no visible one")
    func inTheirPlace() async throws {
        try values.replaceAll(with: ["blank": " \u{200b}\n", "zero": ""])
        let shown = try await show(
            title: "{{none|Hello}}", subtitle: "{{blank|a|b}}{{zero|}}!", body: "{{none|}}x{{zero|\u{e9}}}")
        #expect(shown.title == "Hello")
        #expect(shown.subtitle == "a|b!")
        #expect(shown.body == "x\u{e9}")
    }

    @Test("Without a value or fallback, the title or subtitle is left out, and a body becomes the stage's own")
    func withoutEither() async throws {
        let shown = try await show(title: "Dear {{name}}", subtitle: "As it is", body: "{{quote}} for you")
        #expect(shown.title == "")
        #expect(shown.subtitle == "As it is")
        #expect(shown.body == "Open the app.")
        // Some text is always visible.
        #expect(try await show(title: "{{name}}", body: nil).body == "Open the app.")
        #expect(try await show(title: "{{name|}}", body: "{{name|}}").body == "Open the app.")
    }

    @Test("Text that isn't a placeholder stays as it is") func none() async throws {
        try values.replaceAll(with: ["a": "1", "quote": "Q"])
        let cases = [
            "{{a": "{{a", "a}}": "a}}", "{a}": "{a}", "{{ a }}": "{{ a }}", "{{}}": "{{}}", "{{|x}}": "{{|x}}",
            "{{é}}": "{{é}}", "{{{a}}}": "{1}", "{{{{a}}}}": "{{1}}", "{{b{{a}}}}": "{{b1}}", "{{a}}{{": "1{{",
            "}}{{a}}": "}}1", "{{\(String(repeating: "n", count: 65))}}": "{{\(String(repeating: "n", count: 65))}}",
            "{{a\n}}{{a}}": "{{a\n}}1", "{{x|{{a}}": "{{x|1", "{{a|b}": "{{a|b}", "{ {a}}": "{ {a}}",
        ]
        for (text, expected) in cases {
            #expect(TextTemplate(text).filled(maximumByteCount: 8_192) { values.all()[$0] } == expected, "\(text)")
        }
    }

    @Test("Placeholders in a value aren't filled") func noRecursion() async throws {
        try values.replaceAll(with: ["a": "{{b}}", "b": "{{a}}", "open": "{{", "close": "}}"])
        #expect(try await show(body: "{{a}} {{b}} {{open}}a{{close}}").body == "{{b}} {{a}} {{a}}")
    }

    @Test("Placeholders drop a value's control characters and direction marks, and keep its lines only in a body")
    func hostileValues() async throws {
        try values.replaceAll(with: ["v": "a\u{0}\u{1b}[31m\u{7f}\u{9b}b\u{202e}c\u{2066}d\u{2069}\n\te\u{2028}f"])
        let shown = try await show(title: "{{v}}", body: "{{v}}")
        #expect(shown.title == "a[31mbcd  e f")
        #expect(shown.body == "a[31mbcd\n e f")
    }

    @Test("A text that grows too long ends between two graphemes") func long() async throws {
        try values.replaceAll(with: ["v": String(repeating: "👨‍👩‍👧‍👦", count: 163)])
        let shown = try await show(body: String(repeating: "{{v}}", count: 300))
        #expect(shown.body.utf8.count <= 8_192)
        #expect(shown.body.utf8.count > 8_100)
        #expect(shown.body.dropLast().allSatisfy { $0 == "👨‍👩‍👧‍👦" })
        #expect(shown.body.last == "…")
    }

    @Test("64 KiB of braces are parsed in one pass") func braces() {
        for text in [String(repeating: "{", count: 65_000) + "}}", String(repeating: "{{a}", count: 16_000)] {
            #expect(TextTemplate(text).filled(maximumByteCount: 100_000) { _ in "V" } == text)
        }
    }

    @Test("Placeholders find no values in a file that is damaged, huge, a link, or a pipe")
    func damagedFiles() async throws {
        try values.replaceAll(with: ["v": "value"])
        let file = fixture.root.appending(path: "values/values.json")
        #expect(values.all() == ["v": "value"])
        for bytes in [
            Data(), Data("{".utf8), Data("[]".utf8), Data(#"{"v":1}"#.utf8), Data(repeating: 0x7b, count: 1 << 20),
            Data(#"{"v":"\#(String(repeating: "x", count: 70_000))"}"#.utf8), Data([0xff, 0xfe]),
        ] {
            try bytes.write(to: file)
            #expect(try await show(body: "{{v|in its place}}").body == "in its place")
        }
        // A value that other code has written is cut.
        try Data(#"{"v":"\#(String(repeating: "x", count: 5_000))","w":null,"x":"y"}"#.utf8).write(to: file)
        #expect(values.all()["v"]?.utf8.count == 4_096)
        #expect(values.all()["x"] == "y")
        try FileManager.default.removeItem(at: file)
        mkfifo(file.path, 0o600)
        #expect(try await show(body: "{{v|in its place}}").body == "in its place")
    }
}

@Suite("Shared values") struct SharedValuesTests {
    private let folder: TemporaryFolder
    private let values: SharedValues

    init() throws {
        folder = try TemporaryFolder()
        values = SharedValues(in: folder.appending("SealedPush"))
    }

    @Test("Shared values are replaced as a whole; beyond their limits, the earlier ones stay") func limits() throws {
        #expect(values.all().isEmpty)
        try values.replaceAll(with: ["a": "1", "b": ""])
        let long = String(repeating: "é", count: 2_048)
        try values.replaceAll(with: ["a": long])
        #expect(values.all() == ["a": long])
        #expect(throws: SharedValuesError.tooLong(name: "a")) { try values.replaceAll(with: ["a": long + "x"]) }
        for name in ["", "a b", "é", "a|b", "a}}", String(repeating: "n", count: 65)] {
            #expect(throws: SharedValuesError.badName) { try values.replaceAll(with: [name: "x"]) }
        }
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("n\($0)", "x") })
        #expect(throws: SharedValuesError.tooMany) { try values.replaceAll(with: many) }
        let much = Dictionary(uniqueKeysWithValues: (0..<17).map { ("n\($0)", String(repeating: "x", count: 4_096)) })
        #expect(throws: SharedValuesError.tooMuch) { try values.replaceAll(with: much) }
        #expect(values.all() == ["a": long])
        try values.replaceAll(with: [:])
        #expect(values.all().isEmpty)
    }

    @Test("Values that many write at once are one writer's, and complete") func atOnce() async throws {
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask { [values] in
                    for round in 0..<10 {
                        let text = "\(writer) \(round)"
                        try? values.replaceAll(with: ["a": text, "b": text])
                        let seen = values.all()
                        #expect(seen["a"] == seen["b"] && seen["a"] != nil)
                    }
                }
            }
        }
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.appending("SealedPush").appending(path: "values").path)
        #expect(names == ["values.json"])
    }
}

@Suite("A default body") struct DefaultBodyStageTests {
    @Test("A default body is shown only if the message has no visible body") func shown() async throws {
        let fixture = try Fixture()
        for (body, expected) in [(nil, "Open to see."), (" \u{200b}", "Open to see."), ("Text", "Text")] {
            let field = try fixture.seal(Content(title: "A picture", body: body))
            #expect(await fixture.show(field, stages: [DefaultBodyStage("Open to see.")]).body == expected)
        }
    }
}
