import Foundation
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import device_simulator

@Suite("A page to watch", .blocking)
struct PageTests {
    private static func started(at place: String = "127.0.0.1:0") async throws -> WatchPage {
        try await WatchPage.start(at: PagePlace(parsing: place), title: "A test")
    }

    /// The status and all that came, by curl.
    private static func ask(_ words: String...) throws -> (status: Int, text: String) { try ask(words) }

    private static func ask(_ words: [String]) throws -> (status: Int, text: String) {
        let result = try Program(at: "/usr/bin/curl")
            .run(["-q", "-s", "-i", "--noproxy", "*", "--max-time", "300"] + words)
        #expect(result.status == 0, "\(words): \(result.errors)")
        return (Int(result.output.split(separator: " ").dropFirst().first ?? "") ?? 0, result.output)
    }

    @Test("is for this machine alone")
    func places() throws {
        for place in ["127.0.0.1:0", "localhost:8480", "[::1]:65535"] {
            guard case .loopback = try PagePlace(parsing: place) else {
                Issue.record("\(place)")
                continue
            }
        }
        #expect(try PagePlace(parsing: "./page.sock") == .socket("./page.sock"))
        for place in ["0.0.0.0:80", "192.0.2.1:80", "[::]:80", "127.0.0.1.example.com:80", ":80", "127.0.0.2:1"] {
            #expect(throws: PageError.notLocal, "\(place)") { try PagePlace(parsing: place) }
        }
        for place in ["", "page.sock", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1:-1"] {
            #expect(throws: PageError.malformedPlace, "\(place)") { try PagePlace(parsing: place) }
        }
    }

    @Test("says with each answer that nothing but its own three files may be loaded, run or asked")
    func headers() async throws {
        let page = try await Self.started()
        for path in ["", "page.css", "page.js", "nothing"] {
            let answer = try Self.ask(page.address + path).text.lowercased()
            let policy = try #require(answer.firstMatch(of: /content-security-policy: ([^\r]*)/)).1
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"))
            for source in ["unsafe", "http:", "https:", "data:", "*"] { #expect(!policy.contains(source)) }
            for rule in [
                "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
                "require-trusted-types-for 'script'",
            ] { #expect(policy.contains(rule)) }
            for header in [
                "cache-control: no-store", "x-content-type-options: nosniff", "referrer-policy: no-referrer",
                "cross-origin-resource-policy: same-origin", "x-frame-options: deny",
            ] { #expect(answer.contains(header), "\(header)") }
            #expect(!answer.contains("access-control-"))
        }
        await page.stop()
    }

    @Test("has no script or style of its own within, names nobody else, and sets all texts as text")
    func files() async throws {
        let page = try await Self.started()
        let html = try Self.ask(page.address).text
        #expect(html.contains("content-type: text/html; charset=utf-8"))
        #expect(html.matches(of: /<script/).count == 1 && html.contains(#"<script src="page.js" defer></script>"#))
        for word in ["<style", "style=", "onload", "onclick", "javascript:"] { #expect(!html.contains(word)) }
        let script = try Self.ask(page.address + "page.js").text
        for word in [
            "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "setAttribute",
            "import", "setTimeout", "srcdoc", "createContextualFragment", "DOMParser", ".href", ".src",
        ] { #expect(!script.contains(word), "\(word)") }
        let style = try Self.ask(page.address + "page.css").text
        for text in [html, script, style] {
            let body = try #require(text.components(separatedBy: "\r\n\r\n").last)
            #expect(!body.contains("//") || text == script)
            #expect(!body.contains("http") && !body.contains("url(") && !body.contains("@import"))
        }
        await page.stop()
    }

    @Test("answers nobody who has not its address, and no page of anybody else's")
    func access() async throws {
        let page = try await Self.started()
        let root = try #require(page.address.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\//))
        let port = root.1
        #expect(try Self.ask(page.address).status == 200)
        #expect(try Self.ask(page.address, "-H", "Sec-Fetch-Site: same-origin").status == 200)
        // A tunnel has another port; a name that was pointed at this machine is another name.
        #expect(try Self.ask(page.address, "-H", "Host: localhost:9000").status == 200)
        for host in [
            "example.com", "example.com:\(port)", "127.0.0.1.example.com", "localhost.example.com", "", "127.0.0.2",
            "localhost@example.com",
        ] {
            let header = host.isEmpty ? "Host;" : "Host: \(host)"
            #expect(try Self.ask(page.address, "-H", header).status == 421, "\(host)")
        }
        for site in ["cross-site", "same-site"] {
            let foreign = ["-H", "Sec-Fetch-Site: \(site)"]
            for path in ["", "page.js", "events"] {
                #expect(try Self.ask([page.address + path] + foreign).status == 403, "\(path)")
            }
            // A link that a person has followed, and the same page in a frame.
            #expect(try Self.ask([page.address, "-H", "Sec-Fetch-Dest: document"] + foreign).status == 200)
            #expect(try Self.ask([page.address, "-H", "Sec-Fetch-Dest: iframe"] + foreign).status == 403)
        }
        for path in ["", "page.js", "events", String(repeating: "0", count: 32) + "/events"] {
            #expect(try Self.ask("\(root.0)\(path)").status == 404, "\(path)")
        }
        #expect(try Self.ask(String(page.address.dropLast())).status == 404)
        for method in ["PUT", "DELETE", "OPTIONS"] {
            #expect(try Self.ask(page.address, "-X", method).status == 405)
        }
        await page.stop()
        let other = try await Self.started()
        #expect(!other.address.hasSuffix(page.address.suffix(34)), "the secret is new each time")
        await other.stop()
    }

    @Test("at a socket it is this user's alone, and needs no secret")
    func socket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("page.sock").path
        let page = try await Self.started(at: path)
        #expect(page.address == path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode.map { $0 & 0o077 } == 0)
        #expect(try Self.ask("--unix-socket", path, "http://localhost/").status == 200)
        #expect(try Self.ask("--unix-socket", path, "http://example.com/").status == 421)
        await page.stop()
    }

    @Test("says what there is by now, and then what comes, each in a line, whatever the texts are made of")
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
            page.tell("a connection that is gone shows itself where something is written")
            return !page.isWatched
        }
        await page.stop()
    }

    @Test("keeps 4 MB, and lets sixteen look")
    func bounds() async throws {
        let hub = PageHub(title: "x")
        for number in 0..<500 {
            hub.show("\(number)", ["text": .string(String(repeating: "x", count: 20_000))])
        }
        #expect(hub.keptByteCount <= PageHub.maximumByteCount)
        let page = try await Self.started()
        let watches = try (0..<16).map { _ in try PageWatch(page.address) }
        try await eventually("sixteen") { try watches.allSatisfy { try !$0.events.isEmpty } }
        #expect(try Program(at: "/usr/bin/curl").run("-sN", "--noproxy", "*", page.address + "events").output == "")
        for watch in watches { watch.stop() }
        await page.stop()
    }
}

extension PageNotification {
    static func named(_ title: String) -> PageNotification {
        PageNotification(identifier: "1", title: title, subtitle: "", body: "Lunch?", note: "opened", tone: .good)
    }
}
