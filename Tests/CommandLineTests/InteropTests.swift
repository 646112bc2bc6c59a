import Foundation
import PushSender
import TestPrograms
import TestSupport
import Testing

/// Tests with implementations in other languages, written from the specification alone: Clients/Python and Clients/Node, run by
/// the tools in Tests/Evidence/Interop.
@Suite("Another implementation", .serialized, .blocking) struct InteropTests {
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
        let script = Checkout.folder.appending(path: "Tests/Evidence/Interop/interop.py").path
        // Debian's own Python, which has the packages.
        return try Program(at: "/usr/bin/python3", in: folder.url).run([script] + arguments)
    }

    /// Writes a key's secret to a file in the form that the other implementations read.
    private func secretFile(of name: String) throws -> String {
        let secret = try Program("sealedpush", in: folder.url).run(
            "keys", "export", name, "--secret", "--yes", "--keyring", "K")
        return try folder.write("secret: \(secret.output)", to: "\(name).secret")
    }

    private func deliver(_ payload: String, to device: String = "phone", _ more: String...) throws -> [String: Any] {
        let file = try folder.write(payload, to: "push.apns")
        let arguments = [
            "deliver", file, "--device", device, "--trust", "newsroom", "--topic", "com.example.app", "--keyring", "K",
            "--state", "S", "--json",
        ]
        return try Program("device-simulator", in: folder.url).run(arguments + more).objects.first ?? [:]
    }

    @Test("seals messages in one context that open here in any order") func authenticated() throws {
        let content = try folder.write(
            #"{"alert":{"title":"Nina","body":"שלום 👋🏽 100%"},"data":[1,null]}"#, to: "c.json")
        let sealed = try python(
            "seal-authenticated", "--sender-secret-file", try secretFile(of: "newsroom"), "--recipient", recipient,
            "--topic", "com.example.app", "--content", content, "--count", "6")
        #expect(sealed.status == 0, "\(sealed.errors)")
        let payloads = sealed.output.split(separator: "\n").map(String.init)
        #expect(payloads.count == 6)
        for payload in payloads {
            let shown = try deliver(payload)
            #expect(shown["outcome"] as? String == "opened")
            #expect(shown["body"] as? String == "שלום 👋🏽 100%")
        }
    }

    @Test("makes a NaCl sealed box that opens here if the app allows it") func anonymous() throws {
        let content = try folder.write(#"{"alert":{"body":"from a stranger"}}"#, to: "c.json")
        let sealed = try python(
            "seal-anonymous", "--recipient", recipient, "--topic", "com.example.app", "--content", content)
        #expect(sealed.status == 0, "\(sealed.errors)")
        #expect(try deliver(sealed.output)["reason"] as? String == "anonymous-not-allowed")
        let shown = try deliver(sealed.output, "--allow-anonymous")
        #expect(shown["outcome"] as? String == "opened")
        #expect(shown["body"] as? String == "from a stranger")
    }

    @Test("opens messages sealed here") func theirs() throws {
        let content = try folder.write(#"{"alert":{"body":"to another language"}}"#, to: "c.json")
        for padding in ["buckets", "full", "none"] {
            let payload = try Program("sealedpush", in: folder.url).run(
                "seal", content, "--from", "newsroom", "--to", "phone", "--topic", "com.example.app", "--keyring", "K",
                "--padding", padding)
            let file = try folder.write(payload.output, to: "p.apns")
            let opened = try python(
                "open", "--identity-file", try secretFile(of: "phone"), "--sender", sender, "--topic",
                "com.example.app", file)
            #expect(opened.status == 0, "\(opened.errors)")
            #expect(opened.output.contains("to another language"))
        }
    }

    private func keys(_ words: String...) throws -> Program.Result {
        try Program("sealedpush", in: folder.url).run(["keys"] + words + ["--keyring", "K"])
    }

    /// Runs a server in another language, which keeps a device's state in a file.
    private func server(_ language: Language, _ words: String...) throws -> Program.Result {
        let script = Checkout.folder.appending(path: "Tests/Evidence/Interop/\(language.script)").path
        let setting = [script, "device.json", try secretFile(of: "newsroom"), "com.example.app"]
        return try Program(at: "/usr/bin/\(language.rawValue)", in: folder.url).run(setting + words)
    }

    enum Language: String, CaseIterable {
        case python3, node

        var script: String { self == .python3 ? "server.py" : "server.mjs" }
    }

    @Test(
        "a device enrolls with a server in another language, which seals to it, and then to its next key",
        arguments: Language.allCases)
    func enrolls(language: Language) throws {
        func record() throws -> String { try keys("export", "tablet", "--record").trimmed }
        func proven() throws -> String {
            let question = try server(language, "challenge")
            #expect(question.status == 0, "\(question.errors)")
            let answer = try keys("challenge", "tablet", "--reply", question.trimmed, "--trust", "newsroom")
            #expect(answer.status == 0, "\(answer.errors)")
            return try server(language, "check", answer.trimmed).trimmed
        }
        let expires = Int(Date.now.timeIntervalSince1970) + 86_400
        let content = try folder.write(#"{"alert":{"title":"Nina"},"expires":\#(expires)}"#, to: "c.json")
        func shown() throws -> [String: Any] {
            let lines = try server(language, "seal", content).output.split(separator: "\n").map(String.init)
            let headers = try JSONSerialization.jsonObject(with: Data((lines.last ?? "").utf8)) as? [String: String]
            #expect(headers?["apns-topic"] == "com.example.app" && headers?["apns-expiration"] == "\(expires)")
            return try deliver(
                lines.first ?? "", to: "tablet", "--identifier", headers?["apns-collapse-id"] ?? "")
        }

        let made = try keys("generate", "device", "tablet", "--topic", "com.example.app")
        #expect(made.status == 0, "\(made.errors)")
        let first = try record()
        #expect(try server(language, "enroll", first).status == 0)
        #expect(try server(language, "seal", content).errors == "unproven\n")
        #expect(try proven() == made.trimmed)
        #expect(try shown()["title"] as? String == "Nina")

        #expect(try keys("rotate", "tablet").status == 0)
        #expect(try server(language, "update", record()).status == 0)
        let next = try proven()
        #expect(next.hasPrefix("push1") && next != made.trimmed)
        #expect(try shown()["title"] as? String == "Nina")
        let older = try server(language, "update", first)
        #expect(older.status == 65 && older.errors == "rolled-back\n")
    }

    @Test("each server can use the state that one in another language stored for a device, and so can one in Swift")
    func stored() throws {
        let made = try keys("generate", "device", "tablet", "--topic", "com.example.app")
        #expect(try server(.python3, "enroll", keys("export", "tablet", "--record").trimmed).status == 0)
        let question = try server(.node, "challenge").trimmed
        let answer = try keys("challenge", "tablet", "--reply", question, "--trust", "newsroom")
        #expect(try server(.python3, "check", answer.trimmed).status == 0)
        // For the same message ID, both send the same headers to Apple.
        let content = try folder.write(
            #"{"id":"5b0f6c1e-8d3a-4f57-9a61-2f4c8e7d1b09","alert":{"title":"Nina"}}"#, to: "c.json")
        let headers = try Language.allCases.map { language in
            let sealed = try server(language, "seal", content)
            #expect(sealed.status == 0, "\(sealed.errors)")
            let line = String(sealed.output.split(separator: "\n").last ?? "")
            return try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
        }
        #expect(headers[0] != nil && headers[0] == headers[1])
        let device = try EnrolledDevice(state: Checkout.text(folder.appending("device.json")))
        #expect(try device.recipient(at: .now()).recipient.description == made.trimmed)
        #expect(try keys("export", "tablet", "--state").trimmed == device.state)
        try folder.write(device.state, to: "device.json")
        for language in Language.allCases { #expect(try server(language, "seal", content).status == 0) }
    }
}
