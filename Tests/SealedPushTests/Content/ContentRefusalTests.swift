import Testing

@testable import SealedPush

/// Specification 4.6 to 4.8.
@Suite("Content that is refused")
struct ContentRefusalTests {
    @Test(
        "because of one key's value names that key",
        arguments: [
            ("id", [#""0123ABCD-4567-4abc-8def-0123456789ab""#, #""""#, "1", "[]"]),
            ("topic", [#""""#, #""a b""#, "1", "{}"]),
            ("sent", ["-1", "253402300800", "1.5", "1e300", #""1""#, "[]"]),
            ("expires", ["-1", "253402300800", "0.5", #""0""#, "{}"]),
            ("collapse-id", [#""""#, #""\#(String(repeating: "x", count: 65))""#, "7", "[]"]),
            (
                "alert",
                [#""text""#, "[]", "7", #"{"body":1}"#, #"{"body":"x","title":null}"#, #"{"body":"x","subtitle":[]}"#]
            ),
            ("badge", ["-1", "2147483648", "1.5", #""1""#, "9223372036854775807", "1e30", "[]"]),
            (
                "sound",
                [
                    #""""#, "1", "[]", #"{"critical":2}"#, #"{"critical":-1}"#, #"{"critical":"1"}"#,
                    #"{"critical":0.5}"#,
                    #"{"name":""}"#, #"{"name":1}"#, #"{"name":null}"#, #"{"critical":1,"volume":1.01}"#,
                    #"{"critical":1,"volume":-0.01}"#, #"{"critical":1,"volume":"1"}"#, #"{"critical":true}"#,
                    #"{"critical":1,"volume":null}"#, #"{"critical":null}"#,
                ]
            ),
            ("thread-id", ["1", "[]", "{}"]),
            ("category", ["1", "[]", "{}"]),
            ("interruption-level", [#""loud""#, #""Active""#, #""""#, #""timeSensitive""#, "1"]),
            ("relevance-score", ["-0.01", "1.01", "2", #""1""#, "[]"]),
        ] as [(String, [String])])
    func wrongValues(key: String, values: [String]) {
        let others = ["null", "true", "false"]
        for value in values + others {
            let alert = key == "alert" ? "" : #""alert":{"body":"x"},"#
            #expect(refusal("{\(alert)\"\(key)\":\(value)}") == .invalid(key), "\(key): \(value)")
        }
    }

    @Test("because data is null names it: the app's own value may be anything else")
    func nullData() throws {
        #expect(refusal(#"{"alert":{"body":"x"},"data":null}"#) == .invalid("data"))
        for value in ["0", "false", #""""#, "[]", "{}", "[null]"] {
            #expect(refusal(#"{"alert":{"body":"x"},"data":\#(value)}"#) == nil)
        }
    }

    @Test("because it is no JSON object, too deep or too long says so")
    func form() {
        #expect(refusal("[]") == .notJSON)
        #expect(refusal("") == .notJSON)
        let deep = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        #expect(refusal(#"{"alert":{"body":"x"},"data":\#(deep)}"#) == .notJSON)
        let frame = #"{"alert":{"body":""}}"#.utf8.count
        #expect(refusal(#"{"alert":{"body":"\#(String(repeating: "x", count: 4_096 - frame))"}}"#) == nil)
        #expect(
            refusal(#"{"alert":{"body":"\#(String(repeating: "x", count: 4_097 - frame))"}}"#)
                == .tooLong(maximumByteCount: 4_096))
    }

    private func refusal(_ text: String) -> ContentError? {
        do throws(ContentError) {
            _ = try Content(parsing: Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }
}
