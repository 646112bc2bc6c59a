import Foundation
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@testable import SimulatedAPNs

@Suite("The page of a local APNs", .serialized, .blocking) struct PageTests {
    private func started() async throws -> (apns: RunningAPNs, address: String) {
        let apns = try await RunningAPNs { $0.page = PagePlace(parsing: "127.0.0.1:0") }
        return (apns, try #require(apns.server.pageAddress))
    }

    /// Returns the status and the whole response, using curl.
    private func ask(_ words: String...) throws -> (status: Int, text: String) {
        let result = try Program(at: "/usr/bin/curl")
            .run(["-q", "-s", "-i", "--noproxy", "*", "--max-time", "300"] + words)
        #expect(result.status == 0, "\(words): \(result.errors)")
        return (Int(result.output.split(separator: " ").dropFirst().first ?? "") ?? 0, result.output)
    }

    @Test("a page listens only on this machine") func places() {
        #expect(PagePlace(parsing: "localhost:8480").map { [$0.host, "\($0.port)"] } == ["localhost", "8480"])
        #expect(PagePlace(parsing: "[::1]:65535").map { [$0.host, "\($0.port)"] } == ["[::1]", "65535"])
        for place in [
            "0.0.0.0:80", "192.0.2.1:80", "[::]:80", "127.0.0.1.example.com:80", ":80", "127.0.0.2:1", "", "page.sock",
            "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1:-1",
        ] { #expect(PagePlace(parsing: place) == nil, "\(place)") }
    }

    @Test("each response of the page forbids everything else, and its style is a separate file")
    func headers() async throws {
        let (apns, address) = try await started()
        #expect(try ask(address).text.contains("<link rel=\"stylesheet\" href=\"page.css\">"))
        let style = try ask(address + "page.css").text
        #expect(style.lowercased().contains("content-type: text/css") && style.contains("unicode-bidi: isolate"))
        for (path, status) in [("", 200), ("page.css", 200), ("nothing", 404)] {
            let answer = try ask(address + path)
            #expect(answer.status == status)
            let text = answer.text.lowercased()
            let policy = try #require(text.firstMatch(of: /content-security-policy: ([^\r]*)/)).1
            #expect(
                policy == "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
                    + "frame-ancestors 'none'")
            for header in [
                "cache-control: no-store", "x-content-type-options: nosniff", "referrer-policy: no-referrer",
                "cross-origin-opener-policy: same-origin", "cross-origin-resource-policy: same-origin",
                "x-frame-options: deny",
            ] { #expect(text.contains(header), "\(header)") }
            #expect(!text.contains("access-control-"))
        }
        await apns.server.stop()
    }

    @Test("the page refuses anyone without its address, and other sites' pages") func access() async throws {
        let (apns, address) = try await started()
        let root = try #require(address.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)\//))
        #expect(try ask(address, "-H", "Sec-Fetch-Site: same-origin").status == 200)
        // A tunnel has another port. Another name that resolves to this machine is refused.
        #expect(try ask(address, "-H", "Host: localhost:9000").status == 200)
        for host in ["example.com:\(root.1)", "127.0.0.1.example.com", "127.0.0.2", "localhost@example.com"] {
            #expect(try ask(address, "-H", "Host: \(host)").status == 421, "\(host)")
        }
        for site in ["cross-site", "same-site"] {
            let foreign = "Sec-Fetch-Site: \(site)"
            #expect(try ask(address, "-H", foreign).status == 403)
            // A link that a person follows, and the same page in a frame.
            #expect(try ask(address, "-H", foreign, "-H", "Sec-Fetch-Dest: document").status == 200)
            #expect(try ask(address, "-H", foreign, "-H", "Sec-Fetch-Dest: iframe").status == 403)
            #expect(try ask("\(address)page.css", "-H", foreign, "-H", "Sec-Fetch-Dest: document").status == 403)
        }
        for path in ["", String(repeating: "0", count: 32) + "/", "page.css", "/page.css"] {
            #expect(try ask("\(root.0)\(path)").status == 404, "\(path)")
        }
        #expect(try ask(address, "-X", "PUT").status == 405)
        await apns.server.stop()
        let other = try await started()
        #expect(!other.address.hasSuffix(address.suffix(34)), "the secret is new each time")
        await other.apns.server.stop()
    }

    @Test("the page shows counts, lock screens, and the newest events, and any text stays plain text")
    func contents() async throws {
        let (apns, address) = try await started()
        let client = try await WireClient(apns.address)
        #expect(await apns.send(client) == 200)
        let page = try #require(apns.server.core.page)
        let title = "</p><script>alert(1)</script> & \"\u{202e}"
        page.showed(try .titled("old", identifier: "1"), on: "alice")
        page.showed(try .titled(title, identifier: "1"), on: "<b>alice</b>")
        page.showed(try .titled("new", identifier: "1"), on: "alice")
        let text = try ask(address).text
        #expect(text.contains(">accepted</td><td>1</td>") && text.contains(">known</td><td>1</td>"))
        #expect(text.contains("APNs: a push for phone: accepted"))
        #expect(text.contains(">&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; \"\u{202e}</p>"))
        #expect(text.contains("dir=\"auto\">&lt;b&gt;alice&lt;/b&gt;</h2>"))
        #expect(text.contains(">new</p>") && !text.contains(">old</p>"), "it has replaced the other")
        #expect(!text.contains("<script") && !text.contains("<b>"))
        await apns.server.stop()
    }

    @Test("the page keeps 20 phones with 10 notifications each, and 200 events") func bounds() async throws {
        let (apns, _) = try await started()
        let page = try #require(apns.server.core.page)
        for number in 0..<500 {
            page.showed(try .titled("\(number)", identifier: "\(number)"), on: "phone-\(number % 25)")
        }
        let text = apns.pageText
        #expect(text.split(separator: "class=\"phone\"").count == 21)
        #expect(text.split(separator: "<li>").count == 201 && text.split(separator: "<li class=").count == 201)
        await apns.server.stop()
    }

    @Test("a text has at most 500 bytes on the page, whatever a phone sends", arguments: ["x", "&"])
    func longTexts(_ character: String) async throws {
        let (apns, _) = try await started()
        let page = try #require(apns.server.core.page)
        let long = String(repeating: character, count: 20_000)
        for number in 0..<200 {
            page.showed(try .titled(long, subtitle: long, identifier: "\(number)"), on: "phone-\(number % 20)")
        }
        let text = apns.pageText
        let escaped = character == "x" ? "x" : "&amp;"
        #expect(text.contains(">\(String(repeating: escaped, count: 500))</p>"))
        #expect(text.utf8.count < (character == "x" ? 400_000 : 1_200_000), "\(text.utf8.count)")
        let told = ShownOnDevice(DeliveredPush(notShownBecause: long), identifier: "1")
        #expect(told.reason?.utf8.count == 500)
        await apns.server.stop()
    }
}

extension RunningAPNs {
    var pageText: String { server.core.page?.html(server.core.counts, server.deviceCounts) ?? "" }
}

extension ShownOnDevice {
    static func titled(_ title: String, subtitle: String = "", identifier: String) throws -> ShownOnDevice {
        let members = [
            "identifier": identifier, "outcome": "opened", "title": title, "subtitle": subtitle, "body": "Lunch?",
        ]
        return try JSONDecoder().decode(ShownOnDevice.self, from: JSONEncoder().encode(members))
    }
}
