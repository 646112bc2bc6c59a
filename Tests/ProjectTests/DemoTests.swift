import Foundation
import TestPrograms
import TestSupport
import Testing

/// Checks the output that a newcomer reads.
@Suite("The demo", .blocking) struct DemoTests {
    /// Runs the demo with the programs next to the tests, because building them again would wait for this test. Variables
    /// that a user's shell may have set must not matter.
    private static func run(
        _ arguments: String..., in folder: TemporaryFolder, path: String? = nil
    ) throws -> Program.Result {
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let demo = Checkout.folder.appending(path: "Scripts/demo").path
        return try Program(at: "/usr/bin/env", in: folder.url).run(
            [
                "TMPDIR=.", "CDPATH=\(folder.url.path)", "SEALED_PUSH_KEY=of another keyring",
                "http_proxy=http://127.0.0.1:9", "SEALED_PUSH_PROGRAMS=\(programs)",
            ] + (path.map { ["PATH=\($0)"] } ?? []) + ["bash", demo] + arguments)
    }

    @Test("every column is filled, and every step ends as announced") func wholeDemo() throws {
        let folder = try TemporaryFolder()
        let start = ContinuousClock.now
        let result = try Self.run(in: folder)
        print("README, the demo once built: \(start.duration(to: .now))")
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
        #expect(!result.errors.contains("Scripts/demo"), "\(result.errors)")
        #expect(!result.errors.contains("accepted by APNs"), "no progress in addition to the final summary")
        let steps = result.output.components(separatedBy: "\n\n").map(Step.init)
        try #require(steps.count == 12, "\(result.output)")
        for step in steps { step.expectNoEmptyColumn() }

        #expect(steps[0].lines.count { $0.contains("push1") || $0.contains("pushsender1") } == 2)
        #expect(steps[0].lines.count { $0.contains("bob-phone") && $0.contains(" pushpq.") } == 1)
        #expect(steps[0].lines.last?.hasPrefix("Below each lock screen: ") == true)
        #expect(steps[1].right.contains { $0.contains("│ Nina ") })
        #expect(steps[2].right.contains { $0.contains("│ 明日の会議は10時です。100% sure 🍜 │") })
        for step in steps[1...2] {
            step.expectPush()
            // The first two characters encode the suite's byte: 0x03 or 0x01.
            let isHybrid = step.left.contains { $0.contains(/^sealed  A[w-z0-9_-]/) }
            #expect(isHybrid == step.text.contains("hybrid"), "\(step.text)")
            #expect(step.right.contains { $0.firstMatch(of: /^  opened, [\d,]+ ms$/) != nil })
        }
        // The faults have a fixed seed, so some of the first ten pushes fail.
        #expect(steps[3].lines.contains { $0.hasPrefix("Temporarily deferred: ") })
        #expect(steps[3].lines.contains { $0.hasPrefix("Accepted by APNs: 10") })
        steps[3].expectOnce("Report", count: 5)
        // Killed before any answer, so nothing was finished, and the next process does everything.
        #expect(steps[4].lines.contains { $0.hasPrefix("  waiting   6") })
        #expect(steps[4].lines.contains { $0.hasPrefix("  Accepted by APNs: 6") })
        steps[4].expectOnce("Flash", count: 3)
        let arrivals = steps[4].lines.filter { $0.contains(": shown ") }
        #expect(!arrivals.allSatisfy { $0.hasSuffix("sent by APNs 1 time") }, "pushes in progress are sent again")

        for (step, reasons) in zip(
            steps[5...8], [["unknown-recipient"], ["rejected"], ["unknown-sender"], ["replayed"]])
        {
            #expect(step.reasons == reasons, "\(step.text)")
            #expect(step.right.contains { $0.contains("│ You have a new message! ") })
        }
        for step in steps[5...7] {
            #expect(!step.right.contains { $0.contains("│ Nina ") || $0.contains("│ Your bank ") })
        }
        #expect(steps[8].right.count { $0.contains("│ Nina ") } == 1)

        let log = steps[9].lines.filter { $0.hasPrefix("    outcome ") }
        #expect(log.count == 8)
        #expect(log.allSatisfy { $0.wholeMatch(of: /(?: +(?:outcome|reason|recipient|sender) [a-z0-9-]+)+/) != nil })
        let counts = steps[10].lines.dropFirst()
        #expect(counts.count == 5)
        #expect(counts.allSatisfy { $0.hasSuffix(" 0 times") })

        let picture = try #require(steps[11].lines.last).trimmingCharacters(in: .whitespaces)
        #expect(picture.hasPrefix(folder.url.path))
        try Self.expectPNG(picture)
        // Everything else that the demo created is gone.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    }

    @Test("--page opens the page in the installed browser", .enabled(if: Thoroughness.isThorough))
    func page() throws {
        let folder = try TemporaryFolder()
        let page = folder.appending("page.html").path
        let browser = try folder.program("curl -qsf --noproxy '*' \"$1\" >'\(page)'", at: "bin/xdg-open")
        let path = "\(URL(filePath: browser).deletingLastPathComponent().path):/usr/bin:/bin"
        let result = try Self.run("--page", in: folder, path: path)
        #expect(result.status == 0, "\(result.output)\n\(result.errors)")
        #expect(result.output.contains("  the page     http://127.0.0.1:"))
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<h1>Local APNs and simulated phones</h1>"))
    }

    @Test("an existing picture isn't overwritten, and nothing is sent") func existingPicture() throws {
        let folder = try TemporaryFolder()
        let picture = try folder.write("a photo", to: "photo.png")
        let result = try Self.run(picture, in: folder)
        #expect(result.status == 74)
        #expect(result.output == "")
        #expect(result.errors == "\(picture) already exists; choose another path.\n")
        #expect(try String(contentsOfFile: picture, encoding: .utf8) == "a photo")
    }

    @Test("the documents' picture of the lock screen fits a page") func committedPicture() throws {
        let picture = Checkout.folder.appending(path: "Docs/lock-screen.png").path
        try Self.expectPNG(picture)
        #expect(try Data(contentsOf: URL(filePath: picture)).count < 200_000)
    }

    /// Expects a complete PNG file with the height of a phone.
    private static func expectPNG(_ path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        #expect(bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
        #expect(bytes.suffix(8) == [0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82])
        try #require(bytes.count > 24)
        #expect(bytes[16..<20].reduce(0) { $0 << 8 | Int($1) } > 800)
    }
}

/// The output of the demo below one heading.
private struct Step {
    let text: String
    let lines: [Substring]
    /// The columns; empty if there are none.
    let left: [String]
    let right: [String]

    init(_ text: String) {
        self.text = text
        lines = text.split(separator: "\n")
        let rows = lines.drop { !$0.contains("WHAT APPLE SEES") }.filter { !$0.contains("WHAT APPLE SEES") }
        left = rows.map { String($0.dropFirst(2).prefix(36)).trimmingCharacters(in: .whitespaces) }
        right = rows.map { String($0.dropFirst(40)) }
    }

    /// The reasons of the safe defaults, in order.
    var reasons: [String] { right.compactMap { $0.firstMatch(of: /safe-default: ([a-z-]+),/).map { String($0.1) } } }

    /// Expects each label to have a value.
    func expectNoEmptyColumn() {
        #expect(lines.count >= 2, "\(text)")
        guard text.contains("WHAT APPLE SEES") else { return }
        let labels = ["topic", "status", "alert", "sealed", "suite:", "recipient key ID:", "sender key ID:"]
        for row in left { #expect(!labels.contains(row), "\(text)") }
        #expect(left.count { !$0.isEmpty } >= 7, "\(text)")
        #expect(right.count { !$0.isEmpty } >= 4, "\(text)")
    }

    /// Expects the left column to be an accepted sealed push as the local APNs saw it.
    func expectPush() {
        let left = left.joined(separator: "\n")
        #expect(left.contains("topic   com.example.app\n"))
        #expect(left.firstMatch(of: /\nstatus  200, \d{3,4} bytes\n/) != nil, "\(left)")
        #expect(left.contains("\nalert   You have a new message!\n"))
        #expect(
            left.firstMatch(of: /\nsealed  [A-Za-z0-9_-]{28}\n[A-Za-z0-9_-]{28}\n[A-Za-z0-9_-]{28}\n\.\.\./) != nil,
            "\(left)")
        #expect(!left.contains("Nina"))
        #expect(!left.contains("Bob"))
    }

    /// Expects each message once on each screen, however often it was sent.
    func expectOnce(_ word: String, count: Int) {
        for phone in ["alice-phone ", "bob-phone   "] {
            for number in 1...count {
                let found = lines.filter { $0.hasPrefix("  \(phone) \(word) \(number): shown ") }
                #expect(found.count == 1, "\(text)")
                #expect(found.allSatisfy { $0.contains(": shown 1 time, sent by APNs ") }, "\(text)")
                #expect(found.allSatisfy { !$0.hasSuffix(" 0 times") }, "\(text)")
            }
        }
    }
}
