import TestSupport
import Testing

@testable import SealedPush

/// Specification 4.4 and 4.5.
@Suite("JSON that is read") struct JSONReaderTests {
    @Test("JSON comes back as it was written, whatever the value") func roundTrip() {
        let value: [String: JSONValue] = [
            "null": .null, "true": true, "false": false, "int": 42, "min": .integer(.min), "max": .integer(.max),
            "double": 0.25, "string": "a\"\\\u{0}é😀", "array": [1, [2, []]], "object": ["a": ["b": [:]]], "": "",
        ]
        #expect(read(text(.object(value))) == value)
    }

    @Test("JSON may be 16 levels deep but not 17, in arrays and objects, even if they never end") func depth() {
        for levels in 1...16 {
            #expect(read(#"{"a":"# + arrays(levels - 1, around: "1") + "}") != nil)
            #expect(read(objects(levels, around: "1")) != nil)
        }
        #expect(read(#"{"a":"# + arrays(16, around: "1") + "}") == nil)
        #expect(read(objects(17, around: "1")) == nil)
        #expect(read(String(repeating: "[", count: 2_000)) == nil)
        #expect(read(String(repeating: #"{"a":"#, count: 500)) == nil)
    }

    @Test("A payload's JSON may be 64 levels deep but not 65") func payloadDepth() {
        for (levels, isRead) in [(64, true), (65, false)] {
            let text = Array(objects(levels, around: "1").utf8)
            let members = JSONReader.object(text, maximumByteCount: 4_096, maximumDepth: JSONReader.maximumPayloadDepth)
            #expect((members != nil) == isRead, "\(levels)")
        }
    }

    @Test("Brackets inside strings don't count, even after escaped quotes and backslashes") func brackets() {
        let many = String(repeating: "[{", count: 50)
        #expect(read(#"{"a":""# + many + #""}"#) == ["a": .string(many)])
        #expect(read(#"{"a":"\""# + many + #""}"#) == ["a": .string("\"" + many)])
        #expect(read(#"{"a":"\\","b":["c"]}"#) == ["a": "\\", "b": ["c"]])
        #expect(read(#"{"a":"\\\""# + many + #""}"#) == ["a": .string("\\\"" + many)])
        #expect(read(#"{""# + many + #"":1}"#) == [many: 1])
        #expect(read(#"{"a":"\\","b":"# + many) == nil)
    }

    @Test("JSON of 100,000 brackets is rejected within a second") func manyBrackets() {
        let time = processorTime {
            for bracket in ["[", "{", "]", #"{"a":"#, #"{"a":["#] {
                let text = Array(String(repeating: bracket, count: 100_000).utf8)
                #expect(JSONReader.object(text, maximumByteCount: .max) == nil)
                #expect(JSONReader.object(Array(#"{"a":"#.utf8) + text, maximumByteCount: .max) == nil)
            }
        }
        #expect(time < .seconds(1))
    }

    @Test("JSON with more bytes than allowed is rejected, and with exactly that many accepted") func size() {
        let text = Array(#"{"a":1}"#.utf8)
        #expect(JSONReader.object(text, maximumByteCount: text.count) == ["a": 1])
        #expect(JSONReader.object(text, maximumByteCount: text.count - 1) == nil)
    }

    @Test("A single value of any type is read, and nothing after it") func values() {
        func value(_ text: String, limit: Int = 100, depth: Int = 2) -> JSONValue? {
            JSONReader.value(Array(text.utf8), maximumByteCount: limit, maximumDepth: depth)
        }
        let good: [(String, JSONValue)] = [
            ("null", .null), (" true\n", true), ("-1", -1), ("0.5", 0.5), (#""a\u00e9""#, "a\u{e9}"), ("[[]]", [[]]),
            (#"{"a":[1]}"#, ["a": [1]]),
        ]
        for (text, expected) in good { #expect(value(text) == expected, "\(text)") }
        for text in ["", " ", "1 2", "null,", "nul", "[[[]]]", "{}x", #""a"#, "\"\u{1}\"", "NaN"] {
            #expect(value(text) == nil, "\(text)")
        }
        #expect(JSONReader.value([0x22, 0xff, 0x22], maximumByteCount: 100) == nil)
        #expect(value("1234", limit: 4) == 1234)
        #expect(value("12345", limit: 4) == nil)
    }

    @Test(
        "JSON that is not an object is rejected",
        arguments: [
            "", " ", "1", "null", "true", #""a""#, "[]", "[{}]", "{", "}", "{]", "{}}", "{}{}", "{} x", "{},", "{a:1}",
            "{'a':1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1 "b":2}"#, #"{"a":+1}"#, #"{"a":.5}"#, #"{"a":1.}"#,
            #"{"a":01}"#, #"{"a":-00}"#, #"{"a":-}"#, #"{"a":1e}"#, #"{"a":1E+}"#, #"{"a":1.e2}"#,
            #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":"b}"#, #"{"a":"\x"}"#, #"{"a":tru}"#, "{} // a",
            "{\"a\":\"line\nend\"}", "{\"a\":\"\u{1}\"}",
        ])
    func notAnObject(text: String) { #expect(read(text) == nil) }

    @Test("JSON may be surrounded by white space")
    func whiteSpace() { #expect(read(" \t\r\n{ \"a\" : 1 } \n") == ["a": 1]) }

    @Test("JSON that is not UTF-8 is rejected, wherever the wrong bytes are") func invalidUTF8() {
        let wrongs: [[UInt8]] = [
            [0xff], [0xc0, 0x80], [0xc3], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x80],
        ]
        for wrong in wrongs {
            for (front, back) in [
                (#"{"a":""#, #""}"#), (#"{""#, #"":1}"#), ("{", "}"), ("{}", ""), (#"{"a":"\n"#, #""}"#),
                (#"{"\u0041"#, #"":1}"#),
            ] {
                #expect(JSONReader.object(Array(front.utf8) + wrong + Array(back.utf8), maximumByteCount: 4_096) == nil)
            }
        }
    }

    @Test("JSON with a number too large for a Double is rejected") func hugeNumbers() {
        for number in ["1e400", "-1e400", "1e99999999999", String(repeating: "9", count: 400)] {
            #expect(read(#"{"a":\#(number)}"#) == nil)
        }
    }

    @Test("An integer beyond Int64 becomes a Double, and a whole Double within its range an integer")
    func largeIntegers() {
        #expect(read(#"{"a":9223372036854775807}"#) == ["a": .integer(.max)])
        #expect(read(#"{"a":9223372036854775808}"#) == ["a": .number(9_223_372_036_854_775_808)])
        #expect(read(#"{"a":-9223372036854777000}"#) == ["a": .number(-9_223_372_036_854_777_856)])
        // The Double is the smallest Int64, and is written as that.
        #expect(read(#"{"a":-9223372036854775809}"#) == ["a": .integer(.min)])
        #expect(read(#"{"a":-9223372036854775808.0}"#) == ["a": .integer(.min)])
        #expect(read(#"{"a":1e-400}"#) == ["a": 0])
        #expect(read(#"{"a":-0}"#) == ["a": 0])
        #expect(read(#"{"a":30e-1,"b":9007199254740993}"#) == ["a": 3, "b": 9_007_199_254_740_993])
    }

    @Test("JSON with a lone surrogate or a duplicate name is rejected")
    func notInterchangeable() {
        for text in [
            #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#, #"{"a":"x\udfffx"}"#, #"{"a":"\udc00\ud800"}"#, #"{"\ud800":1}"#,
            #"{"a":"\ud800\u0041"}"#,
            #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":{}}}"#, "{\"\u{e9}\":1,\"\\u00e9\":2}", #"{"\u0061":1,"a":2}"#,
        ] {
            #expect(read(text) == nil, "\(text)")
        }
        #expect(read(#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#) != nil, "each object has its own names")
        #expect(read(#"{"a":"\ud83d\ude00\u00e9\u0000\/"}"#) == ["a": "😀é\u{0}/"])
    }

    @Test("Canonically equivalent names are different members, and a dictionary keeps the first") func equivalentNames()
        throws
    {
        var members = try JSONReader.members(Array("{\"\u{e9}\":1,\"e\u{301}\":2}".utf8))
        #expect(members.names.count == 2 && members.dictionary == ["\u{e9}": 1])
        #expect(members.value(of: "e\u{301}")?.json == 2 && members.take("e\u{301}")?.json == 2)
        #expect(members.take("e\u{301}") == nil && members.take("\u{e9}")?.json == 1 && members.isEmpty)
    }

    @Test("A name of 256 bytes is read, and a longer one is rejected before it is compared", arguments: [0, 1, 20])
    func longNames(before count: Int) throws {
        let others = (0..<count).map { "\"n\($0)\":0," }.joined()
        for (name, isLong) in [
            (String(repeating: "\u{e9}", count: 128), false), (String(repeating: "\u{e9}", count: 128) + "n", true),
            ("a" + String(repeating: "\u{301}\u{316}", count: 16_000), true),
        ] {
            for text in ["{\(others)\"\(name)\":1}", "{\"a\":[{\(others)\"\(name)\":1}]}"] {
                let read = Result { () throws(JSONFault) in try JSONReader.members(Array(text.utf8)) }
                guard case .failure(let fault) = read else {
                    #expect(!isLong)
                    continue
                }
                #expect(isLong && fault.cause == .longName)
            }
        }
    }

    @Test("JSON with a duplicate name is rejected, however many members are before and between") func namesTwice() {
        for count in 1...40 {
            let names = (0..<count).map { "\"n\($0)\u{e9}\":\($0)" }
            let text = names.joined(separator: ",")
            #expect(read("{\(text)}")?.count == count)
            for again in 0..<count {
                #expect(read("{\(text),\"n\(again)\u{e9}\":0}") == nil, "\(again) of \(count)")
                #expect(read("{\(text),\"n\(again)e\u{301}\":0,\"z\":1}")?.count == count + 1, "\(again) of \(count)")
            }
        }
    }

    @Test(
        "An error states the line, the byte in it, and the cause",
        arguments: [
            ("{\"a\":1,\n}", 2, 1, .commaTooMany), (#"{"a":[1,]}"#, 1, 9, .commaTooMany), ("", 1, 1, .noObject),
            ("[]", 1, 1, .noObject), (#"{"a":1"#, 1, 7, .cut), (#"{"a":1} x"#, 1, 9, .textBehind),
            ("\n\n {\"a\":tru}", 3, 7, .unexpected), ("{a:1}", 1, 2, .noName),
            (#"{"a":{},"\u0061":2}"#, 1, 9, .nameTwice),
            ("{\"a\":1,\"\(String(repeating: "b", count: 257))\":2}", 1, 8, .longName),
            (#"{"a":"x \ud83d"}"#, 1, 9, .halfPair), (#"{"a":"\x"}"#, 1, 7, .escape),
            ("{\"é\":\"a\nb\"}", 1, 9, .controlCharacter),
            (#"{"a":1e400}"#, 1, 6, .largeNumber), (#"{"a":{"b":18446744073709551615}}"#, 1, 11, .largeInteger),
            ("{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", 1, 21, .tooDeep), ("\u{feff}{}", 1, 1, .byteOrderMark),
        ] as [(String, Int, Int, JSONFault.Cause)])
    func faults(text: String, line: Int, column: Int, cause: JSONFault.Cause) throws {
        let fault = try #require(throws: JSONFault.self) {
            try JSONReader.members(Array(text.utf8), isForSealing: true)
        }
        #expect((fault.line, fault.column, fault.cause) == (line, column, cause), "\(fault)")
        #expect(fault.description == "line \(line), column \(column): \(cause.rawValue)")
        for wrong: [UInt8] in [[0x63, 0x61, 0x66, 0xe9], [0xc3, 0x5c, 0x6e]] {
            let latin = Array(#"{"a":""#.utf8) + wrong + Array(#""}"#.utf8)
            let fault = #expect(throws: JSONFault.self) { try JSONReader.members(latin) }
            #expect(fault?.cause == .notUTF8)
        }
    }

    @Test("The members are returned one by one, each once") func members() throws {
        let bytes = Array(#"{"a":1,"b":{"c":{"d":[{}]},"\u0061":"x"},"e":null}"#.utf8)
        var members = try JSONReader.members(bytes)
        #expect(members.dictionary == ["a": 1, "b": ["c": ["d": [[:]]], "a": "x"], "e": .null])
        #expect(members.take("e")?.json == .null)
        var inner = try #require(members.take("b")?.members)
        #expect(inner.take("a")?.json == "x")
        #expect(inner.take("a") == nil && members.take("b") == nil && members.take("c") == nil)
        #expect(members.dictionary == ["a": 1] && !members.isEmpty)
        #expect(members.take("a")?.json == 1 && members.isEmpty)
        var made = JSONMembers(["x": ["y": 2]])
        #expect(made.dictionary == ["x": ["y": 2]])
        #expect(made.take("x")?.members?.dictionary == ["y": 2] && made.take("x")?.members == nil)
    }

    private func read(_ text: String) -> [String: JSONValue]? {
        JSONReader.object(Array(text.utf8), maximumByteCount: 4_096)
    }

    private func text(_ value: JSONValue) -> String { String(decoding: value.bytes, as: UTF8.self) }

    private func arrays(_ levels: Int, around inner: String) -> String {
        String(repeating: "[", count: levels) + inner + String(repeating: "]", count: levels)
    }

    private func objects(_ levels: Int, around inner: String) -> String {
        String(repeating: #"{"a":"#, count: levels) + inner + String(repeating: "}", count: levels)
    }
}
