import Foundation
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@testable import SimulatedAPNs

/// Debian's Chromium with the page open, run by Tests/Tools/Clients/page-in-chromium.py.
private final class Chromium {
    private let folder: TemporaryFolder
    private let output: URL
    private let errors: URL
    private let process: ChildProcess

    /// Opens the page and waits for a text on it. Returns when the page is open.
    init(at address: String, until text: String) async throws {
        folder = try TemporaryFolder()
        output = URL(filePath: try folder.write("", to: "output"))
        errors = URL(filePath: try folder.write("", to: "errors"))
        let script = Checkout.folder.appending(path: "Tests/Tools/Clients/page-in-chromium.py").path
        process = try Program(at: "/usr/bin/python3").start(
            ["-B", script, address, text], output: FileHandle(forWritingTo: output),
            errors: FileHandle(forWritingTo: errors))
        try await eventually("the browser shows the page") { try self.said.hasPrefix("ready\n") || process.hasEnded }
        try #require(!process.hasEnded, "\(complaint)")
    }

    private var complaint: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }
    private var said: String { get throws { String(decoding: try Data(contentsOf: output), as: UTF8.self) } }

    func seen() async throws -> [String: Any] {
        let ending = process.wait()
        let line = try said.split(separator: "\n").last ?? ""
        try #require(ending == .exited(0), "\(complaint)")
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    deinit { process.kill() }
}

@Suite(
    "The page in a browser", .blocking, .serialized,
    .enabled(if: Thoroughness.isThorough || ProcessInfo.processInfo.environment["CHROMIUM"] == "1"))
struct ChromiumTests {
    private static let titles = [
        "<script>window.ran = true; alert(1)</script>", "<img src=x onerror='window.ran = true'>",
        "\u{202e}\u{2067}Nina, read from the right", String(repeating: "🍜", count: 1_000),
        "{{constructor.constructor('window.ran = true')()}}", "</p></li></ol><h1>Another page</h1>",
    ]

    @Test("on the page, a title with a script, reversed direction, or endless text stays plain text in its own box")
    func titles() async throws {
        let apns = try await RunningAPNs { $0.page = PagePlace(parsing: "127.0.0.1:0") }
        let address = try #require(apns.server.pageAddress)
        let page = try #require(apns.server.core.page)
        let browser = try await Chromium(at: address, until: "the last line")
        for (index, title) in Self.titles.enumerated() {
            page.showed(try .titled(title, identifier: "1"), on: "phone-\(index) \(title.prefix(40))")
            page.requested(device: title, reason: title)
        }
        page.requested(device: "the last line", reason: nil)
        let seen = try await browser.seen()
        // The page shows 500 bytes of each.
        #expect(seen["headings"] as? [String] == Self.titles.map { String($0.prefix(125)) })
        let elements = [
            "body", "div", "h1", "h2", "head", "html", "li", "link", "meta", "ol", "p", "section", "table", "tbody",
            "td", "title", "tr",
        ]
        #expect(Set(seen["elements"] as? [String] ?? []) == Set(elements))
        #expect(seen["scripts"] as? Int == 0 && seen["ran"] as? Bool == false && seen["dialogs"] as? Int == 0)
        #expect(seen["inside"] as? Bool == true, "no text leaves its box")
        #expect(seen["noteDirections"] as? [String] == ["ltr"], "no text reverses its neighbors")
        let requests = try #require(seen["requests"] as? [String])
        #expect(!requests.isEmpty && requests.allSatisfy { $0.hasPrefix(address.prefix(17)) }, "\(requests)")
        let complaints = (seen["complaints"] as? [String] ?? []).filter { $0.contains("Content Security Policy") }
        #expect(complaints.isEmpty, "\(complaints)")
        await apns.server.stop()
    }
}
