import Foundation
import Glibc
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@testable import device_simulator

/// Somebody who looks: the events as they come, by curl.
final class PageWatch: Sendable {
    private let output: URL
    private let folder: TemporaryFolder
    private let process: ChildProcess

    init(_ address: String) throws {
        folder = try TemporaryFolder()
        output = URL(filePath: try folder.write("", to: "events"))
        let place =
            address.hasPrefix("http") ? ["\(address)events"] : ["--unix-socket", address, "http://localhost/events"]
        process = try Program(at: "/usr/bin/curl").start(
            ["-q", "-sN", "--noproxy", "*"] + place, output: FileHandle(forWritingTo: output))
    }

    var text: String { get throws { String(decoding: try Data(contentsOf: output), as: UTF8.self) } }

    /// Those that have come whole.
    var events: [[String: Any]] {
        get throws {
            try text.components(separatedBy: "\n\n").dropLast().filter { $0.hasPrefix("data: ") }.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.dropFirst(6).utf8)) as? [String: Any])
            }
        }
    }

    func stop() {
        process.kill()
        _ = process.wait()
    }

    deinit { process.kill() }
}

/// A local APNs with its page, a phone that is on, and the service with its own.
final class WatchedPrograms {
    let folder: TemporaryFolder
    let page: String
    let servicePage: String
    let token: String
    private var running: [ChildProcess] = []

    init() async throws {
        let folder = try TemporaryFolder()
        let topic = ["--topic", "com.example.app", "--keyring", "Keys"]
        let command = Program("sealedpush", in: folder.url)
        for words in [["sender", "newsroom"], ["device", "alice-phone", "--topic", "com.example.app"]] {
            let made = try command.run(["keys", "generate"] + words + ["--keyring", "Keys"])
            try #require(made.status == 0, "\(made.errors)")
        }
        var running: [ChildProcess] = []
        func start(_ program: String, _ words: [String], lines: Int) async throws -> [[String: Any]] {
            let output = URL(filePath: try folder.write("", to: "\(words[0]).out"))
            running.append(
                try Program(program, in: folder.url).start(words, output: FileHandle(forWritingTo: output)))
            func text() throws -> String { String(decoding: try Data(contentsOf: output), as: UTF8.self) }
            try await eventually("\(words[0]) has begun") { try text().filter { $0 == "\n" }.count >= lines }
            return try text().split(separator: "\n").compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
        }
        let apns = try await start(
            "device-simulator", ["apns", "--folder", "APNs", "--page", "127.0.0.1:0", "--json"], lines: 2)
        let page = try #require(apns.last?["page"] as? String)
        let phone = try await start(
            "device-simulator",
            ["run", "--device", "alice-phone", "--apns", "APNs", "--trust", "newsroom", "--state", "Phone", "--json"]
                + topic, lines: 1)
        let token = try #require(phone.last?["token"] as? String)
        let enrolled = try command.run(
            "device", "enroll", "alice-phone", "--user", "alice", "--token", token, "--keyring", "Keys", "--outbox",
            "outbox.sqlite")
        try #require(enrolled.status == 0, "\(enrolled.errors)")
        let service = try await start(
            "sealedpush",
            ["serve", "--from", "newsroom", "--deliver", "--apns", "APNs", "--outbox", "outbox.sqlite", "--json"]
                + ["--socket", "serve.sock", "--page", "\(folder.url.path)/page.sock"] + topic, lines: 1)
        servicePage = try #require(service.last?["page"] as? String)
        (self.folder, self.page, self.token, self.running) = (folder, page, token, running)
    }

    func send(_ content: [String: Any]) throws {
        let body = try JSONSerialization.data(withJSONObject: ["user": "alice", "content": content])
        let sent = try Program(at: "/usr/bin/curl", in: folder.url).run(
            "-q", "-sf", "--unix-socket", "serve.sock", "http://localhost/v1/messages", "-H",
            "Content-Type: application/json", "-d", String(decoding: body, as: UTF8.self))
        try #require(sent.status == 0, "\(sent.output)\(sent.errors)")
    }

    /// When the phone said that it has shown a text.
    func shown(_ text: String) async throws -> Date {
        try await eventually("the phone has shown it") {
            let output = try Data(contentsOf: folder.appending("run.out"))
            return output.range(of: Data(text.utf8)) != nil
        }
        return Date()
    }

    deinit {
        for process in running.reversed() {
            Glibc.kill(process.identifier, SIGTERM)
            _ = process.wait()
        }
    }
}

@Suite("The pages of the local APNs and of serve", .blocking)
struct PageProgramTests {
    @Test("the phone's shows what opened; the service's shows names, counts and reasons, and nothing of a message")
    func both() async throws {
        let programs = try await WatchedPrograms()
        let (phone, service) = (try PageWatch(programs.page), try PageWatch(programs.servicePage))
        try await eventually("the service's figures") { try service.text.contains("alice-phone") }
        let title = "<script>alert(1)</script>\u{202e}Nina"
        try programs.send(["alert": ["title": title, "body": "Lunch at one?"], "data": ["thread": "lunch"]])
        try await eventually("the lock screen") {
            try phone.events.contains { event in
                let shown = (event["notifications"] as? [[String: Any]])?.first
                return event["name"] as? String == "alice-phone" && shown?["title"] as? String == title
                    && shown?["body"] as? String == "Lunch at one?" && shown?["note"] as? String == "opened"
            }
        }
        try await eventually("what Apple has seen") {
            try phone.events.contains { $0["text"] as? String == "APNs: a push for alice-phone: accepted" }
        }
        try await eventually("it is gone") { try service.events.contains { $0["text"] as? String == "1 accepted" } }
        // An APNs that refuses.
        let refusing = try Program(at: "/usr/bin/curl", in: programs.folder.url).run(
            "-q", "-sf", "--unix-socket", "APNs/control.sock", "-X", "PUT",
            "http://localhost/tokens/\(programs.token)", "-d", #"{"state":"bad"}"#)
        #expect(refusing.status == 0)
        try programs.send(["alert": ["body": "Never shown"]])
        try await eventually("the reason") {
            try phone.text.contains("APNs: a push for alice-phone: BadDeviceToken")
                && service.text.contains("refused: BadDeviceToken")
        }
        let said = try service.text
        for secret in [title, "script", "Lunch", "lunch", "Never", programs.token, "push1", "custom-encrypted"] {
            #expect(!said.contains(secret), "\(secret)")
        }
        #expect(try !phone.text.contains("Never shown"))
        #expect(try !phone.text.contains(programs.token))
        phone.stop()
        service.stop()
    }

    @Test("beyond this machine there is none", arguments: ["0.0.0.0:0", "192.0.2.1:80", "page.sock"])
    func refused(place: String) throws {
        let commands = [
            ("device-simulator", ["apns", "--folder", "APNs"]),
            ("sealedpush", ["serve", "--from", "newsroom", "--topic", "com.example.app"]),
        ]
        for (program, words) in commands {
            let folder = try TemporaryFolder()
            let result = try Program(program, in: folder.url).run(words + ["--page", place])
            #expect(result.status == 64)
            #expect(result.errors.contains("socket's path"), "\(result.errors)")
            withExtendedLifetime(folder) {}
        }
    }
}
