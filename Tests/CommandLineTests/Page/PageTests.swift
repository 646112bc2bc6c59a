import Foundation
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import device_simulator

/// Somebody who looks at a page: its events as they come, by curl.
final class PageWatch: Sendable {
    private let output: URL
    private let folder: TemporaryFolder
    private let process: ChildProcess

    init(_ address: String) throws {
        folder = try TemporaryFolder()
        output = URL(filePath: try folder.write("", to: "events"))
        process = try Program(at: "/usr/bin/curl").start(
            ["-q", "-sN", "--noproxy", "*", "\(address)events"], output: FileHandle(forWritingTo: output))
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

@Suite("The page that shows what a local APNs does", .blocking) struct PageTests {
    private static func started() async throws -> WatchPage {
        try await WatchPage.start(at: "127.0.0.1:0", title: "A test")
    }

    /// The status and all that came, by curl.
    private static func ask(_ words: String...) throws -> (status: Int, text: String) {
        let result = try Program(at: "/usr/bin/curl")
            .run(["-q", "-s", "-i", "--noproxy", "*", "--max-time", "300"] + words)
        #expect(result.status == 0, "\(words): \(result.errors)")
        return (Int(result.output.split(separator: " ").dropFirst().first ?? "") ?? 0, result.output)
    }

    @Test("a page listens on this machine alone") func places() throws {
        #expect(try WatchPage.address(parsing: "localhost:8480") == ("localhost", 8480))
        #expect(try WatchPage.address(parsing: "[::1]:65535") == ("[::1]", 65_535))
        for place in [
            "0.0.0.0:80", "192.0.2.1:80", "[::]:80", "127.0.0.1.example.com:80", ":80", "127.0.0.2:1", "", "page.sock",
            "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1:-1",
        ] {
            #expect(throws: PageError.self, "\(place)") { try WatchPage.address(parsing: place) }
        }
    }

    @Test("each answer of the page forbids whatever is not in its own three files") func headers() async throws {
        let page = try await Self.started()
        for path in ["", "page.css", "page.js", "nothing"] {
            let answer = try Self.ask(page.address + path).text.lowercased()
            let policy = try #require(answer.firstMatch(of: /content-security-policy: ([^\r]*)/)).1
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"))
            for rule in [
                "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
            ] { #expect(policy.contains(rule)) }
            for header in [
                "cache-control: no-store", "x-content-type-options: nosniff", "referrer-policy: no-referrer",
                "cross-origin-resource-policy: same-origin", "x-frame-options: deny",
            ] { #expect(answer.contains(header), "\(header)") }
            #expect(!answer.contains("access-control-"))
        }
        let script = try Self.ask(page.address + "page.js").text
        for word in ["innerHTML", "insertAdjacent", "eval(", "setAttribute", "setTimeout", ".href", ".src"] {
            #expect(!script.contains(word), "\(word)")
        }
        await page.stop()
    }

    @Test("the page answers nobody who doesn't know its address, and no other site's page") func access() async throws {
        let page = try await Self.started()
        let root = try #require(page.address.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\//))
        #expect(try Self.ask(page.address, "-H", "Sec-Fetch-Site: same-origin").status == 200)
        // A tunnel has another port; a name that was pointed at this machine is another name.
        #expect(try Self.ask(page.address, "-H", "Host: localhost:9000").status == 200)
        for host in ["example.com:\(root.1)", "127.0.0.1.example.com", "127.0.0.2", "localhost@example.com"] {
            #expect(try Self.ask(page.address, "-H", "Host: \(host)").status == 421, "\(host)")
        }
        for site in ["cross-site", "same-site"] {
            let foreign = "Sec-Fetch-Site: \(site)"
            for path in ["", "page.js", "events"] {
                #expect(try Self.ask(page.address + path, "-H", foreign).status == 403, "\(path)")
            }
            // A link that a person has followed, and the same page in a frame.
            #expect(try Self.ask(page.address, "-H", foreign, "-H", "Sec-Fetch-Dest: document").status == 200)
            #expect(try Self.ask(page.address, "-H", foreign, "-H", "Sec-Fetch-Dest: iframe").status == 403)
        }
        for path in ["", "page.js", "events", String(repeating: "0", count: 32) + "/events"] {
            #expect(try Self.ask("\(root.0)\(path)").status == 404, "\(path)")
        }
        #expect(try Self.ask(page.address, "-X", "PUT").status == 405)
        await page.stop()
        let other = try await Self.started()
        #expect(!other.address.hasSuffix(page.address.suffix(34)), "the secret is new each time")
        await other.stop()
    }

    @Test("the page first says what there is, and then what comes, each in a line, whatever the texts are")
    func events() async throws {
        let page = try await Self.started()
        #expect(!page.isWatched)
        page.show([("waiting", "3")], under: "Pushes")
        page.show([("waiting", "2")], under: "Pushes")
        for number in 1...210 { page.tell("line \(number)") }
        let title = "</script><script>alert(1)</script>\u{202e}\n\ndata: {}\r\n" + String(repeating: "🍜", count: 4_000)
        page.show([.named(title)], onPhone: "alice-phone")
        let watch = try PageWatch(page.address)
        try await eventually("what there is") { try watch.events.count == 203 }
        #expect(page.isWatched)
        let events = try watch.events
        #expect(events[0]["kind"] as? String == "begin" && events[0]["title"] as? String == "A test")
        #expect(events[1]["rows"] as? [[String]] == [["waiting", "2"]])
        #expect((events[2]["notifications"] as? [[String: Any]])?.first?["title"] as? String == title)
        #expect(events[3]["text"] as? String == "line 11")
        page.tell("the newest", .bad)
        try await eventually("what comes") { try watch.events.last?["text"] as? String == "the newest" }
        watch.stop()
        try await eventually("nobody looks") {
            page.beat()
            return !page.isWatched
        }
        await page.stop()
    }

    @Test("the page keeps 4 MB, and sixteen may look") func bounds() async throws {
        let page = try await Self.started()
        let watches = try (0..<16).map { _ in try PageWatch(page.address) }
        try await eventually("sixteen") { try watches.allSatisfy { try !$0.events.isEmpty } }
        #expect(try Program(at: "/usr/bin/curl").run("-sN", "--noproxy", "*", page.address + "events").output == "")
        for watch in watches { watch.stop() }
        for number in 0..<500 { page.show([.named(String(repeating: "x", count: 20_000))], onPhone: "\(number)") }
        #expect(page.keptByteCount <= 4 << 20)
        await page.stop()
    }
}

extension PageNotification {
    static func named(_ title: String) -> PageNotification {
        PageNotification(identifier: "1", title: title, subtitle: "", body: "Lunch?", note: "opened", tone: .good)
    }
}
