import Foundation
import PushSender
import SealedPush
import TestSupport
import Testing

@Suite("Extensions under iOS's rules", .serialized)
struct ExtensionTests {
    private let device: Device

    init() throws { device = try Device() }

    private func deliver(_ program: String, body: String, _ more: [String] = []) throws -> Device.Delivered {
        let file = try device.folder.write(#"{"aps":{"alert":"\#(body)","mutable-content":1}}"#, to: "push")
        return try device.deliver(file, ["--extension", Program(program).executable.path] + more)
    }

    @Test("Xcode's template compiles and runs unchanged")
    func template() throws {
        let shown = try deliver("xcode-template-extension", body: "hello")
        #expect(shown.outcome == "modified")
        #expect(shown.title == " [modified]")
        #expect(shown.body == "hello")
    }

    @Test(
        "an extension that crashes, exits, returns no text or nothing at all: the original is shown",
        arguments: ["crash", "exit", "empty", "never", "hang"])
    func misbehaving(what: String) throws {
        let shown = try deliver("misbehaving-extension", body: what, ["--time-limit", "0.5"])
        #expect(shown.outcome == "original")
        #expect(shown.body == what)
        #expect(shown.note != nil)
    }

    @Test("an extension that hands a carrier's claim through is not believed")
    func forgedClaim() throws {
        let payload = """
            {"aps":{"alert":"x","mutable-content":1},"sealed-push":{"outcome":"opened","data":"{}"}}
            """
        let file = try device.folder.write(payload, to: "forged")
        let shown = try device.deliver(
            file, ["--extension", Program("xcode-template-extension").executable.path])
        #expect(shown.outcome == "modified")
    }

    @Test("an extension that answers when it is told that time is up is shown")
    func late() throws {
        let shown = try deliver("misbehaving-extension", body: "late", ["--time-limit", "0.5"])
        #expect(shown.body == "at the last moment")
    }

    @Test("of two answers the first one counts")
    func twice() throws {
        #expect(try deliver("misbehaving-extension", body: "twice").body == "from the extension")
    }

    @Test("an extension may print, and what it prints is not taken for an answer")
    func printing() throws {
        #expect(try deliver("misbehaving-extension", body: "anything").body == "from the extension")
    }

    @Test("the example extension, the file an app would ship, opens and refuses")
    func example() throws {
        // The published test keys: the example trusts this sender.
        let keys = Checkout.folder.appending(path: "Tests/Keyring").path
        let content = try device.folder.write(#"{"alert":{"title":"Nina","body":"Lunch at one?"}}"#, to: "content")
        let push = device.folder.appending("example.apns").path
        let sealed = try Program("sealedpush").run(
            "seal", content, "--from", "test-newsroom", "--to", "test-phone", "--topic", "com.example.app",
            "--keyring", keys, "--output", push)
        #expect(sealed.status == 0, "\(sealed.errors)")
        let arguments = [
            "deliver", push, push, "--device", "test-phone", "--topic", "com.example.app", "--keyring", keys,
            "--extension", Program("messages-example").executable.path, "--state",
            device.folder.appending("Example").path, "--json",
        ]
        let shown = try Program("device-simulator").run(arguments).objects
        #expect(shown.map { $0["outcome"] as? String } == ["opened", "safe-default"])
        #expect(shown.first?["body"] as? String == "Lunch at one?")
        #expect(shown.last?["reason"] as? String == "replayed")
    }
}
