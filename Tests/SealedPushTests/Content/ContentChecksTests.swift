import Testing

@testable import SealedPush

@Suite("Content that is about to be sealed")
struct ContentChecksTests {
    @Test("passes with every key, and with nothing but text")
    func passes() {
        #expect(refusal(ContentJSONTests.full) == nil)
        #expect(refusal(Content(body: "x")) == nil)
    }

    @Test("is refused with a value that no receiver would take, by that key's name")
    func refused() {
        let changes: [(String, @Sendable (inout Content) -> Void)] = [
            ("collapse-id", { $0.collapseID = "" }),
            ("collapse-id", { $0.collapseID = String(repeating: "é", count: 33) }),
            ("badge", { $0.badge = -1 }),
            ("badge", { $0.badge = 2_147_483_648 }),
            ("relevance-score", { $0.relevanceScore = -0.1 }),
            ("relevance-score", { $0.relevanceScore = 1.1 }),
            ("relevance-score", { $0.relevanceScore = .nan }),
            ("sound", { $0.sound = .named("") }),
            ("sound", { $0.sound = .critical(name: "", volume: 1) }),
            ("sound", { $0.sound = .critical(name: "a", volume: 1.1) }),
            ("sound", { $0.sound = .critical(name: "a", volume: .nan) }),
            ("data", { $0.data = .number(.infinity) }),
            ("data", { $0.data = [["a": .number(.nan)]] }),
            ("new", { $0.other = ["new": .number(-.infinity)] }),
        ]
        for (key, change) in changes {
            var content = Content(body: "x")
            change(&content)
            #expect(refusal(content) == .invalid(key), "\(key)")
        }
    }

    @Test("is refused where `other` holds a key that has a place of its own, or is reserved")
    func knownKeys() {
        for key in [
            "id", "topic", "sent", "expires", "collapse-id", "alert", "badge", "sound", "thread-id", "category",
            "interruption-level", "relevance-score", "data", "attachments", "overflow", "chart", "receipt", "template",
        ] {
            var content = Content(body: "x")
            content.other = [key: 1]
            #expect(refusal(content) == .invalid(key))
        }
    }

    @Test("is a template or is none, and says nothing else about that")
    func template() throws {
        var content = Content(body: "{{quote}}")
        content.isTemplate = true
        #expect(refusal(content) == nil)
        #expect(try Content(parsing: content.json).isTemplate)
        content.isTemplate = false
        #expect(content == Content(body: "{{quote}}"))
        for value: JSONValue in [false, 1, .null, "true", [], [:]] {
            content.other = ["template": value]
            #expect(throws: ContentError.invalid("template")) { try Content(parsing: content.json) }
            // A receiver takes it as absent.
            #expect(try Content(opening: content.json) == Content(body: "{{quote}}"))
        }
    }

    @Test("is refused without visible text")
    func invisible() {
        for content in [Content(), Content(title: ""), Content(title: " ", subtitle: "\u{200b}", body: "\n")] {
            #expect(refusal(content) == .noVisibleText)
        }
    }

    @Test("may be exactly as deep as a receiver reads it", arguments: 10...20)
    func depth(levels: Int) {
        let deep = (0..<levels).reduce(JSONValue.integer(1)) { value, _ in [value] }
        let changes: [(inout Content) -> Void] = [
            { $0.data = deep }, { $0.other = ["new": deep] },
            { $0.data = (0..<levels).reduce(JSONValue.integer(1)) { value, _ in ["a": value] } },
        ]
        for change in changes {
            var content = Content(body: "x")
            change(&content)
            let isReadable = (try? Content(parsing: content.json)) != nil
            #expect((refusal(content) == nil) == isReadable)
            #expect(isReadable == (levels <= 15))
        }
    }

    private func refusal(_ content: Content) -> ContentError? {
        do throws(ContentError) {
            try content.checkForSealing()
            return nil
        } catch {
            return error
        }
    }
}
