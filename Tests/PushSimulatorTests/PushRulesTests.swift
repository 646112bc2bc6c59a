import Foundation
import TestSupport
import Testing

@testable import PushSimulator

@Suite("Push files and the rules of waking") struct PushRulesTests {
    private func push(_ json: String) throws -> PushFile { try PushFile(parsing: Data(json.utf8)) }

    @Test("the Simulator's own key is removed from the payload") func targetBundle() throws {
        let file = try push(#"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"a"}}"#)
        #expect(file.targetBundle == "com.example.app")
        #expect(file.payload.keys.sorted() == ["aps"])
        #expect(String(decoding: file.json, as: UTF8.self) == #"{"aps":{"alert":"a"}}"#)
    }

    @Test("only a JSON object is accepted", arguments: ["", "[]", "1", "{", "null", "\u{feff}x", "{\"a\":}"])
    func notJSON(text: String) {
        let error = #expect(throws: PushFileError.self) { try push(text) }
        #expect(error.map { "\($0)".contains("isn't a single JSON object: line 1, column ") } == true)
    }

    @Test("a payload has at most 4,096 bytes without white space, and hostile nesting is refused early")
    func limits() throws {
        let frame = #"{"aps":{"alert":"a"},"x":""}"#.utf8.count
        func json(_ count: Int) -> String {
            "{\n \"aps\":{\"alert\":\"a\"},   \"x\":\"\(String(repeating: "x", count: count - frame))\"}"
        }
        #expect(try push(json(4_096)).json.count == 4_096)
        #expect(throws: PushFileError.tooLarge(byteCount: 4_097)) { try push(json(4_097)) }
        #expect(throws: PushFileError.self) { try push(String(repeating: " ", count: 70_000)) }
        #expect(throws: PushFileError.self) { try push(String(repeating: "[", count: 60_000)) }
    }

    @Test("brackets in strings can't hide nesting from the parser") func depth() {
        for (depth, isTaken) in [(63, true), (64, false)] {
            let (open, closed) = (String(repeating: "[", count: depth), String(repeating: "]", count: depth))
            let push = try? push(#"{"aps":{"alert":"]]}}[["},"deep":"# + open + closed + "}")
            #expect((push != nil) == isTaken)
        }
    }

    @Test("the extension wakes only for an alert push with text and mutable-content")
    func waking() throws {
        func unchanged(_ aps: String, _ type: String = "alert") throws -> DeliveredPush.Outcome? {
            try push(#"{"aps":\#(aps)}"#).shownUnchanged(pushType: type)?.outcome
        }
        for alert in [#""a""#, #"{"body":"a"}"#, #"{"title":"a"}"#, #"{"subtitle":"a"}"#, #"{"loc-key":"A"}"#] {
            #expect(try unchanged(#"{"mutable-content":1,"alert":\#(alert)}"#) == nil)
        }
        for aps in [
            #"{"alert":"a"}"#, #"{"alert":"a","mutable-content":0}"#, #"{"alert":"a","mutable-content":"1"}"#,
        ] {
            #expect(try unchanged(aps) == .original, "\(aps)")
        }
        for aps in [
            #"{"mutable-content":1}"#, #"{"mutable-content":1,"content-available":1}"#,
            #"{"mutable-content":1,"sound":"default"}"#, #"{"mutable-content":1,"badge":1}"#,
            #"{"mutable-content":1,"alert":""}"#, #"{"mutable-content":1,"alert":{}}"#,
            #"{"mutable-content":1,"alert":7}"#, "1",
        ] {
            #expect(try unchanged(aps) == .notShown, "\(aps)")
        }
        #expect(try unchanged(#"{"alert":"a","mutable-content":1}"#, "background") == .notShown)
    }

    @Test("localized alerts are filled in as on a device without translations") func localized() throws {
        let file = try push(#"{"aps":{"alert":{"loc-key":"%@ and %@","loc-args":["a","b"],"title-loc-key":"T"}}}"#)
        let shown = ShownNotification(WireNotification(file.payload).content)
        #expect(shown.body == "a and b")
        #expect(shown.title == "T")
    }
}
