import Foundation
import TestPrograms
import TestSupport
import TestThreads
import Testing

/// A second implementation, in another language, made from the specification alone: Tests/Interop.
@Suite("Another implementation", .serialized, .blocking)
struct InteropTests {
    private let folder: TemporaryFolder
    private let recipient: String
    private let sender: String

    init() throws {
        folder = try TemporaryFolder()
        let program = Program("sealedpush", in: folder.url)
        recipient = try program.run("keys", "generate", "device", "phone", "--keyring", "K").trimmed
        sender = try program.run("keys", "generate", "sender", "newsroom", "--keyring", "K").trimmed
    }

    private func python(_ arguments: String...) throws -> Program.Result {
        let script = Checkout.folder.appending(path: "Tests/Interop/interop.py").path
        // Debian's own Python, for which the packages are installed.
        return try Program(at: "/usr/bin/python3", in: folder.url).run([script] + arguments)
    }

    private func deliver(_ payload: String, _ more: String...) throws -> [String: Any] {
        let file = try folder.write(payload, to: "push.apns")
        let arguments = [
            "deliver", file, "--device", "phone", "--trust", "newsroom", "--topic", "com.example.app", "--keyring", "K",
            "--state", "S", "--json",
        ]
        return try Program("device-simulator", in: folder.url).run(arguments + more).objects.first ?? [:]
    }

    @Test("what it seals in one context, in any order, opens here")
    func authenticated() throws {
        let content = try folder.write(
            #"{"alert":{"title":"Nina","body":"שלום 👋🏽 100%"},"data":[1,null]}"#, to: "c.json")
        let sealed = try python(
            "seal-authenticated", "--sender-secret-file", "K/private/newsroom.txt", "--recipient", recipient, "--topic",
            "com.example.app", "--content", content, "--count", "6")
        #expect(sealed.status == 0, "\(sealed.errors)")
        let payloads = sealed.output.split(separator: "\n").map(String.init)
        #expect(payloads.count == 6)
        for payload in payloads {
            let shown = try deliver(payload)
            #expect(shown["outcome"] as? String == "opened")
            #expect(shown["body"] as? String == "שלום 👋🏽 100%")
        }
    }

    @Test("a sealed box of a NaCl library opens here, where the app allows it")
    func anonymous() throws {
        let content = try folder.write(#"{"alert":{"body":"from a stranger"}}"#, to: "c.json")
        let sealed = try python(
            "seal-anonymous", "--recipient", recipient, "--topic", "com.example.app", "--content", content)
        #expect(sealed.status == 0, "\(sealed.errors)")
        #expect(try deliver(sealed.output)["reason"] as? String == "anonymous-not-allowed")
        let shown = try deliver(sealed.output, "--allow-anonymous")
        #expect(shown["outcome"] as? String == "opened")
        #expect(shown["body"] as? String == "from a stranger")
    }

    @Test("what is sealed here opens there")
    func theirs() throws {
        let content = try folder.write(#"{"alert":{"body":"to another language"}}"#, to: "c.json")
        for padding in ["buckets", "full", "none"] {
            let payload = try Program("sealedpush", in: folder.url).run(
                "seal", content, "--from", "newsroom", "--to", "phone", "--topic", "com.example.app", "--keyring", "K",
                "--padding", padding)
            let file = try folder.write(payload.output, to: "p.apns")
            let opened = try python(
                "open", "--identity-file", "K/private/phone.txt", "--sender", sender, "--topic", "com.example.app", file
            )
            #expect(opened.status == 0, "\(opened.errors)")
            #expect(opened.output.contains("to another language"))
        }
    }
}
