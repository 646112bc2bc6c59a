import TestSupport
import Testing

@testable import SealedPush

@Suite("Content that is about to be sealed") struct ContentChecksTests {
    @Test("Content with every key passes, and so does content with only a text") func passes() {
        #expect(refusal(ContentJSONTests.full) == nil)
        #expect(refusal(Content(body: "x")) == nil)
    }

    @Test("Content with a value that every receiver would reject is refused, and the error names its key")
    func refused() {
        let changes: [(String, @Sendable (inout Content) -> Void)] = [
            ("collapse-id", { $0.collapseID = "" }),
            ("collapse-id", { $0.collapseID = String(repeating: "é", count: 33) }), ("badge", { $0.badge = -1 }),
            ("badge", { $0.badge = 2_147_483_648 }), ("relevance-score", { $0.relevanceScore = -0.1 }),
            ("relevance-score", { $0.relevanceScore = 1.1 }), ("relevance-score", { $0.relevanceScore = .nan }),
            ("sound", { $0.sound = .named("") }), ("sound.name", { $0.sound = .critical(name: "", volume: 1) }),
            ("sound.volume", { $0.sound = .critical(name: "a", volume: 1.1) }),
            ("sound.volume", { $0.sound = .critical(name: "a", volume: .nan) }),
            ("data", { $0.data = .number(.infinity) }), ("data[0].a", { $0.data = [["a": .number(.nan)]] }),
            ("data[0]", { $0.data = [[Self.longName: 1]] }),
            ("data.order.items[1].price", { $0.data = ["order": ["items": [1, ["price": .number(.nan)], 2]]] }),
            ("data[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]", { $0.data = Self.nested(16) }),
            (Self.longName, { $0.other = [Self.longName: 1] }), ("new", { $0.other = ["new": [Self.longName: 1]] }),
            ("new[1]", { $0.other = ["new": [1, .number(-.infinity)]] }),
        ]
        for (key, change) in changes {
            var content = Content(body: "x")
            change(&content)
            #expect(refusal(content) == .invalid(key), "\(key)")
        }
    }

    @Test("A withdrawal has no other member that is shown, and the error names it") func withdrawal() throws {
        var good = Content(withdrawing: .thread("nina"))
        (good.id, good.topic, good.sent) = (ContentJSONTests.full.id, ContentJSONTests.full.topic, .now())
        (good.expires, good.collapseID, good.badge) = (.now(), "c", 0)
        (good.data, good.other) = (["a": 1], ["new": 2])
        #expect(refusal(good) == nil)
        let changes: [(String, (inout Content) -> Void)] = [
            ("alert", { $0.alert.title = "a" }), ("alert", { $0.alert.body = "" }),
            ("sound", { $0.sound = .named("a") }),
            ("badge-add", { ($0.badge, $0.badgeIncrement) = (nil, 1) }), ("thread-id", { $0.threadID = "a" }),
            ("category", { $0.category = "a" }), ("interruption-level", { $0.interruptionLevel = .passive }),
            ("relevance-score", { $0.relevanceScore = 0 }), ("template", { $0.isTemplate = true }),
            ("filter-criteria", { $0.filterCriteria = "a" }), ("target-content-id", { $0.targetContentID = "a" }),
            ("chart", { $0.chart = PushChart(.line, points: [1]) }),
            ("person", { $0.person = Content.Person(name: "Nina", id: "u") }),
            ("disclosure", { $0.disclosure = .generic }),
            ("group", { $0.group = Content.Group(name: "Lunch club") }),
        ]
        for (name, change) in changes {
            var content = good
            change(&content)
            #expect(refusal(content) == .besideWithdrawal(name), "\(name)")
        }
        #expect(refusal(Content(withdrawing: .thread(""))) == .invalid("withdraw.thread"))
    }

    /// Arrays inside arrays.
    private static func nested(_ depth: Int) -> JSONValue { depth == 0 ? 1 : [nested(depth - 1)] }

    private static let longName = String(repeating: "é", count: 128) + "n"

    @Test("Content with a name of 256 bytes passes") func longestName() throws {
        var content = Content(body: "x")
        let name = String(Self.longName.dropLast())
        (content.data, content.other) = ([name: 1], [name: 2])
        #expect(refusal(content) == nil)
        #expect(try Content(opening: content.json) == content)
    }

    @Test("A long hostile value in a member with few values is refused at once") func hostileValues() {
        // Without a check of its length, a comparison sorts the marks, in a second or more.
        let value = "a" + String(repeating: "\u{301}", count: 16_000) + String(repeating: "\u{316}", count: 16_000)
        let hash = String(repeating: "A", count: 43)
        let file = #""url":"https://example.com/f","size":9,"hash":"\#(hash)","plain":true"#
        for (member, json) in [
            ("interruption-level", #""interruption-level":"\#(value)""#),
            ("disclosure", #""disclosure":"\#(value)""#),
            ("chart.kind", #""chart":{"kind":"\#(value)","points":[1]}"#),
            ("chart.color", #""chart":{"kind":"bar","points":[1],"color":"\#(value)"}"#),
            ("attachments[0].type", #""attachments":[{\#(file),"id":"a","type":"\#(value)"}]"#),
        ] {
            let bytes = Array(#"{"alert":{"body":"b"},\#(json)}"#.utf8)
            let time = processorTime {
                for _ in 0..<100 {
                    #expect(throws: ContentError.invalid(member)) {
                        try Content(parsing: bytes, maximumByteCount: Content.maximumUnsealedByteCount)
                    }
                }
            }
            #expect(time < .seconds(15), "\(member)")
        }
    }

    @Test("Content is refused if `other` contains a key with its own property, or a reserved one") func knownKeys() {
        for key in Content.knownKeys {
            var content = Content(body: "x")
            content.other = [key: 1]
            #expect(refusal(content) == .invalid(key))
        }
    }

    @Test("A template has the value true; any other value is refused") func template() throws {
        var content = Content(body: "{{quote}}")
        content.isTemplate = true
        #expect(refusal(content) == nil)
        #expect(try Content(parsing: content.json).isTemplate)
        content.isTemplate = false
        #expect(content == Content(body: "{{quote}}"))
        for value: JSONValue in [false, 1, .null, "true", [], [:]] {
            content.other = ["template": value]
            #expect(throws: ContentError.unusable(value, at: "template")) { try Content(parsing: content.json) }
            // A receiver treats it as absent.
            #expect(try Content(opening: content.json) == Content(body: "{{quote}}"))
        }
    }

    @Test("A level of disclosure is one of three; a receiver takes any other value for the strictest")
    func disclosure() throws {
        for level in Content.Disclosure.allCases {
            let json = Array(#"{"alert":{"body":"x"},"disclosure":"\#(level.rawValue)"}"#.utf8)
            var content = Content(body: "x")
            content.disclosure = level
            #expect(refusal(content) == nil)
            #expect(try Content(parsing: json) == content)
            #expect(try Content(opening: json) == content)
            #expect(try Content(parsing: content.json) == content)
        }
        for value: JSONValue in ["Full", "", "none", 0, true, .null, [], ["full"], [:]] {
            var content = Content(body: "x")
            content.other = ["disclosure": value]
            #expect(throws: ContentError.unusable(value, at: "disclosure")) { try Content(parsing: content.json) }
            var read = Content(body: "x")
            read.disclosure = .generic
            #expect(try Content(opening: content.json) == read)
        }
        let levels = Content.Disclosure.allCases
        #expect(levels == [.full, .sender, .generic] && levels.reversed().sorted() == levels)
    }

    @Test("Content without visible text is refused") func invisible() {
        for content in [Content(), Content(title: ""), Content(title: " ", subtitle: "\u{200b}", body: "\n")] {
            #expect(refusal(content) == .noVisibleText)
        }
    }

    @Test("Content may be exactly as deep as receivers accept", arguments: 10...20) func depth(levels: Int) {
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
        SealedPushTests.refusal { () throws(ContentError) in try content.checkForSealing() }
    }
}

/// Specification 4.6 to 4.8.
@Suite("Content that is refused") struct ContentRefusalTests {
    /// The vectors define which values are wrong.
    @Test(
        "Content that is refused because of one key's value names that key",
        arguments: [
            ("id", "\"\""), ("topic", "\"a b\""), ("sent", "-1"), ("expires", "0.5"), ("collapse-id", "7"),
            ("alert", "[]"), ("badge", "1e30"), ("sound", "\"\""), ("thread-id", "[]"),
            ("category", "{}"), ("interruption-level", "\"Active\""), ("relevance-score", "1.01"),
            ("filter-criteria", "7"), ("target-content-id", "[]"),
        ])
    func wrongValues(key: String, value: String) {
        let alert = key == "alert" ? "" : #""alert":{"body":"x"},"#
        for value in [value, "true", "false"] {
            #expect(refusal("{\(alert)\"\(key)\":\(value)}") == .invalid(key), "\(key): \(value)")
        }
    }

    @Test("Content that is refused because of a part of the alert or sound names that part") func parts() {
        #expect(refusal(#"{"alert":{"body":1}}"#) == .invalid("alert.body"))
        #expect(refusal(#"{"alert":{"body":"x"},"sound":{"critical":2}}"#) == .invalid("sound.critical"))
    }

    @Test("The app's own value may be anything but null") func nullData() throws {
        for value in ["0", "false", #""""#, "[]", "{}", "[null]"] {
            #expect(refusal(#"{"alert":{"body":"x"},"data":\#(value)}"#) == nil)
        }
    }

    @Test("Content that is not a JSON object, too deep, or too long is refused with that reason") func form() {
        #expect(isNotJSON("[]") && isNotJSON(""))
        let deep = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        #expect(isNotJSON(#"{"alert":{"body":"x"},"data":\#(deep)}"#))
        let frame = #"{"alert":{"body":""}}"#.utf8.count
        #expect(refusal(#"{"alert":{"body":"\#(String(repeating: "x", count: 4_096 - frame))"}}"#) == nil)
        #expect(
            refusal(#"{"alert":{"body":"\#(String(repeating: "x", count: 4_097 - frame))"}}"#)
                == .tooLong(maximumByteCount: 4_096))
    }

    private func isNotJSON(_ text: String) -> Bool { if case .notJSON? = refusal(text) { true } else { false } }

    @Test("A moment that isn't in whole seconds is refused with the one rule", arguments: ["expires", "sent"])
    func moments(member: String) throws {
        for value in [
            "1760000000000", "1760000000.5", "\"1760000000\"", "\"2026-01-01T00:00:00Z\"", "-1", "1e30", "true",
        ] {
            let error = try #require(refusal(#"{"alert":{"body":"x"},"\#(member)":\#(value)}"#))
            #expect(error == .invalid(member), "\(value)")
            let rule = "whole seconds since 1970, not milliseconds or a lifetime"
            #expect(error.description == "the content's \"\(member)\" must be \(rule)")
        }
    }

    private func refusal(_ text: String) -> ContentError? {
        SealedPushTests.refusal { () throws(ContentError) in _ = try Content(parsing: Array(text.utf8)) }
    }
}
