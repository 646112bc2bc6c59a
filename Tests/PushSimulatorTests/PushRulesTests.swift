import Foundation
import TestSupport
import Testing

@testable import PushSimulator

@Suite("Push files and the rules of waking")
struct PushRulesTests {
    private func push(_ json: String) throws -> PushFile { try PushFile(parsing: Data(json.utf8)) }

    @Test("the simulator's own key is taken out of the payload")
    func targetBundle() throws {
        let file = try push(#"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"a"}}"#)
        #expect(file.targetBundle == "com.example.app")
        #expect(file.payload.keys.sorted() == ["aps"])
        #expect(String(decoding: file.json, as: UTF8.self) == #"{"aps":{"alert":"a"}}"#)
    }

    @Test("what is no JSON object is no push", arguments: ["", "[]", "1", "{", "null", "\u{feff}x", "{\"a\":}"])
    func notJSON(text: String) {
        #expect(throws: PushFileError.notJSON) { try push(text) }
    }

    @Test("a payload has at most 4,096 bytes without white space, and hostile nesting is refused at once")
    func limits() throws {
        let frame = #"{"aps":{"alert":"a"},"x":""}"#.utf8.count
        func json(_ count: Int) -> String {
            "{\n \"aps\":{\"alert\":\"a\"},   \"x\":\"\(String(repeating: "x", count: count - frame))\"}"
        }
        #expect(try push(json(4_096)).json.count == 4_096)
        #expect(throws: PushFileError.tooLarge(byteCount: 4_097)) { try push(json(4_097)) }
        #expect(throws: PushFileError.self) { try push(String(repeating: " ", count: 70_000)) }
        #expect(throws: PushFileError.notJSON) { try push(String(repeating: "[", count: 60_000)) }
    }

    @Test("push files that a fuzzer found: brackets in strings hide no depth")
    func found() throws {
        let files = try Checkout.files(in: "Tests/FuzzRegressions/fuzz-simulator", ending: "")
            .filter { $0.lastPathComponent.hasPrefix("brackets-") }
        #expect(files.count >= 2)
        for file in files {
            // The first byte says which of the target's readers it is for.
            let bytes = Data(try Data(contentsOf: file).dropFirst())
            let isDeep = file.lastPathComponent.contains("depth")
            let push = try? PushFile(parsing: bytes)
            #expect(!isDeep || push == nil, "\(file.lastPathComponent)")
        }
    }

    @Test("the extension wakes for an alert push with text and mutable-content, and for no other")
    func waking() throws {
        func decide(_ json: String, _ type: String = "alert") throws -> WakeRule {
            WakeRule.decide(try push(json), pushType: type)
        }
        for alert in [#""a""#, #"{"body":"a"}"#, #"{"title":"a"}"#, #"{"subtitle":"a"}"#, #"{"loc-key":"A"}"#] {
            #expect(try decide(#"{"aps":{"mutable-content":1,"alert":\#(alert)}}"#) == .wakes)
        }
        for aps in [
            #"{"alert":"a"}"#, #"{"alert":"a","mutable-content":0}"#, #"{"alert":"a","mutable-content":"1"}"#,
        ] {
            guard case .showsOriginal = try decide(#"{"aps":\#(aps)}"#) else {
                Issue.record("\(aps) should be shown as it is")
                continue
            }
        }
        for aps in [
            #"{"mutable-content":1}"#, #"{"mutable-content":1,"content-available":1}"#,
            #"{"mutable-content":1,"sound":"default"}"#, #"{"mutable-content":1,"badge":1}"#,
            #"{"mutable-content":1,"alert":""}"#, #"{"mutable-content":1,"alert":{}}"#,
            #"{"mutable-content":1,"alert":7}"#, "1",
        ] {
            guard case .showsNothing = try decide(#"{"aps":\#(aps)}"#) else {
                Issue.record("\(aps) should show nothing")
                continue
            }
        }
        guard case .showsNothing = try decide(#"{"aps":{"alert":"a","mutable-content":1}}"#, "background") else {
            Issue.record("a background push shows nothing")
            return
        }
    }

    @Test("localised alerts are filled in as on a device without translations")
    func localized() throws {
        let file = try push(#"{"aps":{"alert":{"loc-key":"%@ and %@","loc-args":["a","b"],"title-loc-key":"T"}}}"#)
        let shown = ShownNotification(WireNotification(file.payload).content)
        #expect(shown.body == "a and b")
        #expect(shown.title == "T")
    }
}
