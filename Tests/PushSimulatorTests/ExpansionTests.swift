import Foundation
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import TestThreads
import Testing

@testable import PushSimulator

@Suite("Expanded notifications", .serialized, .blocking)
struct ExpansionTests {
    private let folder: TemporaryFolder
    /// The published test keys: the extension trusts this sender.
    private static let keys = Checkout.folder.appending(path: "Tests/Keyring").path

    init() throws { folder = try TemporaryFolder() }

    private func seal(_ content: String) throws -> String {
        let push = folder.appending(UUID().uuidString).path
        let result = try Program("sealedpush").run(
            "seal", try folder.write(content, to: "content"), "--from", "test-newsroom", "--to", "test-phone",
            "--topic", "com.example.app", "--keyring", Self.keys, "--output", push)
        #expect(result.status == 0, "\(result.errors)")
        return push
    }

    private func deliver(_ file: String, _ more: String..., json: Bool = true) throws -> Program.Result {
        let result = try Program("device-simulator").run(
            ["deliver", file, "--device", "test-phone", "--topic", "com.example.app", "--keyring", Self.keys]
                + ["--extension", Program("expanding-extension").executable.path, "--expanded"]
                + (json ? ["--json"] : []) + more)
        #expect(result.status == 0, "\(result.errors)")
        return result
    }

    private func expand(_ file: String, _ more: String...) throws -> [String: Any] {
        let result = try more.isEmpty ? deliver(file) : deliver(file, more[0], more[1])
        return try #require(result.objects.first?["expanded"] as? [String: Any])
    }

    private let stock = #"{"alert":{"title":"ACME","body":"Up"},"category":"stock","data":{"price":"12.50"}}"#

    @Test("the app's view gets what was opened, in a process of its own, and its rows are shown")
    func rows() throws {
        let expanded = try expand(try seal(stock))
        #expect(expanded["system"] as? Bool == false)
        #expect(expanded["initialSizeRatio"] as? Double == 0.5)
        #expect(expanded["hidesDefaultContent"] as? Bool == true)
        let rows = try #require(expanded["rows"] as? [[String: Any]])
        #expect(rows.map { $0["kind"] as? String } == ["heading", "facts", "picture", "text"])
        #expect(rows[0]["text"] as? String == "ACME")
        #expect(rows[1]["facts"] as? [String] == ["Price", "12.50"])
        #expect(rows[2]["attachment"] as? String == "picture")
        #expect(rows[3]["text"] as? String == "8 bytes of https://example.com/large.png")
        let actions = try #require(expanded["actions"] as? [[String: Any]])
        #expect(actions.map { $0["identifier"] as? String } == ["mute", "note", "open"])
        #expect(actions[0]["destructive"] as? Bool == true)
        #expect(actions[1]["textInput"] as? String == "Why?")
        #expect(actions[2]["opensApp"] as? Bool == true)
    }

    @Test("an action is performed by the view, with what was typed")
    func actions() throws {
        let file = try seal(stock)
        let noted = try expand(file, "--action", "note=too dear = sell")
        #expect(noted["answer"] as? String == "show")
        #expect((noted["rows"] as? [[String: Any]])?.first?["text"] as? String == "Noted: too dear = sell")
        #expect(try expand(file, "--action", "mute")["answer"] as? String == "dismiss")
        #expect(try expand(file, "--action", "open")["answer"] as? String == "forward")
        let unknown = try expand(file, "--action", "nothing")
        #expect(unknown["answer"] is NSNull)
        #expect(unknown["note"] as? String == "the view has no such action; it has mute, note, open")
        let elsewhere = try expand(try seal(#"{"alert":{"body":"b"},"category":"other"}"#), "--action", "mute")
        #expect(elsewhere["note"] as? String == "no view is for this category, so there is no action to choose")
    }

    @Test("without a view for its category, or where the view fails, the system's own is shown")
    func system() throws {
        let other = try expand(try seal(#"{"alert":{"body":"b"},"category":"other"}"#))
        #expect(other["system"] as? Bool == true)
        #expect((other["rows"] as? [[String: Any]])?.map { $0["kind"] as? String } == ["picture"])
        #expect(other["note"] is NSNull)
        #expect(try expand(try seal(#"{"alert":{"body":"b"}}"#))["system"] as? Bool == true)
        let crashed = try expand(try seal(#"{"alert":{"body":"crash"},"category":"stock"}"#))
        #expect(crashed["system"] as? Bool == true)
        #expect(crashed["note"] as? String == "the content extension ended without a view")
    }

    @Test("a carrier's push that names the category is not shown as the app's own")
    func forged() throws {
        for userInfo in [#""x":1"#, #""sealed-push":{"outcome":"opened","data":"{}"}"#] {
            let push = try folder.write(#"{"aps":{"alert":"WIRE","category":"stock"},\#(userInfo)}"#, to: "forged")
            let expanded = try expand(push)
            #expect(expanded["system"] as? Bool == true)
            #expect(expanded["note"] as? String == "this notification was not opened by the service module")
        }
    }

    @Test("as text: the view's rows and its buttons, and no name moves the terminal's cursor")
    func text() throws {
        let lines = try deliver(try seal(stock), json: false).output.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("╭ test-phone, expanded · stock ") })
        #expect(lines.contains { $0.contains("Price: 12.50") })
        #expect(lines.contains { $0.contains("( Mute ) !") })
        #expect(lines.contains { $0.contains("( Note … )") })
        let thread = ShownNotification(
            WireNotification(["aps": ["alert": "b", "thread-id": "\u{1b}[2J", "category": "\u{1b}[2J"]]).content)
        var screen = DeviceScreen()
        screen.show(DeliveredPush(outcome: .original, shown: thread), identifier: "a", at: Date())
        let printed =
            LockScreen.lines(screen, on: "phone")
            + LockScreen.lines(ShownExpansion(system: thread), of: thread, on: "phone")
        #expect(!printed.joined().contains("\u{1b}"))
    }
}
