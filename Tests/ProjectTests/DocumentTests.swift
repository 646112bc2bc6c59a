import Foundation
import TestPrograms
import TestSupport
import Testing

@Suite("The documents", .blocking) struct DocumentTests {
    /// The documents that have commands.
    private static let documents = [
        "Docs/FromWhatYouRun.md", "Docs/KeyManagement.md", "Docs/Operations.md", "Docs/OtherLanguages.md",
        "Docs/PostgreSQL.md", "Docs/Quickstart.md", "Docs/ServerGuide.md", "Docs/TestOnLinux.md", "Docs/Tutorial.md",
        "Keys/README.md",
    ]

    /// Returns the fenced blocks in one language.
    private static func blocks(_ language: String, in text: String) -> [String] {
        text.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    private static func text(_ document: String) throws -> String {
        try Checkout.text(Checkout.folder.appending(path: document))
    }

    @Test("Every command in a document runs, in order, in a fresh folder", arguments: documents)
    func commands(document: String) async throws {
        let needsDatabase = ["Docs/Operations.md", "Docs/PostgreSQL.md"].contains(document)
        let database = needsDatabase ? try await PostgresServer.shared.value.database() : nil
        // Building from a test would wait for the test itself, and the programs are built.
        let lines = Self.blocks("sh", in: try Self.text(document)).joined(separator: "\n").split(separator: "\n")
            .filter { !$0.hasPrefix("Scripts/build") && !$0.hasPrefix("export PATH=") }
            .map { $0 == "checkout=$PWD" ? "checkout='\(Checkout.folder.path)'" : $0 }
        // The loop must end if the service has died.
        for line in lines where line.hasPrefix("until curl") { #expect(line.contains("kill -0 "), "\(line)") }
        let folder = try TemporaryFolder()
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let script = try folder.write(
            "set -euo pipefail\nexport PATH=\"\(programs):$PATH\"\nexport TMPDIR=\"\(folder.url.path)\"\n"
                + "export OUTBOX='\(database?.address ?? "")'\n"
                + "export XDG_STATE_HOME=\"\(folder.url.path)/state\"\n" + lines.joined(separator: "\n") + "\n",
            to: "script")
        let result = try Program(at: "/bin/bash", in: folder.url).run(script)
        #expect(result.status == 0, "\(document): \(result.errors)\n\(result.output)")
        for words in Self.shown[document] ?? [] { #expect(result.output.contains(words), "\(words) \(result.output)") }
        if document == "Docs/Tutorial.md" {
            let screens = Self.blocks("text", in: try Self.text(document))
            #expect(screens.count == 2)
            for line in screens.joined(separator: "\n").split(separator: "\n") where line.hasPrefix("│") {
                #expect(result.output.contains(line), "\(line)")
            }
        }
        if document == "Docs/ServerGuide.md" {
            // The phone shows the message that the server sealed.
            #expect(result.output.split(separator: "apns-collapse-id: ").last?.contains("\n  opened, ") == true)
        }
        if document == "Docs/OtherLanguages.md" {
            // The output of `seal --json`.
            #expect(result.objects.contains { $0["apnsID"] is String })
        }
    }

    /// Text that the commands must print.
    private static let shown = [
        // From curl, and from a mail.
        "Docs/FromWhatYouRun.md": [#""enqueued":1"#, "waiting   2"],
        "Docs/Tutorial.md": ["opened", "safe-default: replayed", #""outcome":"opened""#],
        "Docs/Quickstart.md": ["SENDER_KEY = pushsender1", "pushlogin.", "It works: this message", "Lunch at one?"],
        "Docs/ServerGuide.md": ["apns-collapse-id: "],
        // The phone shows a message from each language.
        "Docs/OtherLanguages.md": ["│ From Python ", "│ From Node "],
        "Docs/Operations.md": ["Accepted by APNs: 1.", "status 65", "BadDeviceToken"],
        "Docs/PostgreSQL.md": ["Enrolled alice-phone"],
        // Commands that must fail, and say so; a successful one would print nothing.
        "Docs/KeyManagement.md": [
            "not sealed: status 65", "refused: status 77", "No problems found.", "unknown-recipient: ",
        ],
    ]

    @Test("The list has every document with commands") func completeness() throws {
        let withCommands = try Checkout.files(in: "", ending: ".md").filter {
            !Self.blocks("sh", in: try Checkout.text($0)).isEmpty
        }
        #expect(withCommands.map(\.path) == Self.documents.map { Checkout.folder.appending(path: $0).path })
    }

    @Test("The README's two Swift blocks are the examples, word for word") func examples() throws {
        let readme = Self.blocks("swift", in: try Self.text("README.md"))
        #expect(readme.count == 2)
        let server = try Self.text("Examples/Server/Server.swift")
        for line in readme[0].split(separator: "\n") {
            #expect(server.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
        }
        let device = try Self.text("Examples/Messages/NotificationService.swift")
        for line in readme[1].split(separator: "\n") where !line.contains("pushsender1...") {
            #expect(device.contains(line), "\(line)")
        }
    }

    @Test("The Swift code of guides and articles compiles, except for parts that Linux lacks") func guides() throws {
        let folder = try TemporaryFolder()
        let block = /(?:<!-- ([^\n]*) -->\n)?```swift\n(.*?)\n```/.dotMatchesNewlines()
        var files: [String] = []
        var leftOut: [String] = []
        let guides = [
            "AppGuide", "Accounts", "Migration", "TestOnLinux", "RichNotifications", "PrivateNotifications",
            "BeforeYouShip", "ServerGuide",
        ]
        let articles = try Checkout.files(in: "Sources", ending: ".md").map { try Checkout.text($0) }
        for match in try (guides.map { try Self.text("Docs/\($0).md") } + articles).joined().matches(of: block) {
            if let reason = match.1 {
                leftOut.append(String(reason))
            } else {
                files.append(try folder.write("\(match.2)\n", to: "Block\(files.count + 1).swift"))
            }
        }
        #expect(files.count > 10 && !articles.isEmpty)
        let notOurs = ["a manifest", "part of a manifest", "needs APNSwift"]
        #expect(leftOut == ["part of a manifest", "needs UIKit"] + notOurs)
        // All blocks form one module, because the host in one runs the extension in another.
        let result = try Compiler.run(["-typecheck", "-parse-as-library"] + files)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("The README's server compiles as printed, as one file") func pasted() throws {
        let server = try #require(Self.blocks("swift", in: try Self.text("README.md")).first)
        let folder = try TemporaryFolder()
        let start = ContinuousClock.now
        let result = try Compiler.run(["-typecheck", try folder.write("\(server)\n", to: "main.swift")])
        print("README, the server's Swift: type-checked in \(start.duration(to: .now))")
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("The server example names the missing variable") func missingVariable() throws {
        let names = ["SENDER_SECRET", "DEVICE_STATE"]
        for (index, name) in names.enumerated() {
            let variables = names.prefix(index).map { "\($0)=something" }
            let server = Program("server-example").executable.path
            let result = try Program(at: "/usr/bin/env").run(["-i"] + variables + [server])
            #expect(result.status == 64)
            #expect(result.errors.hasPrefix("\(name) is missing; "), "\(result.errors)")
        }
    }

    @Test("Each alert has a severity and an existing runbook chapter") func runbooks() throws {
        let rules = try Self.text("Docs/alerts.yml")
        let chapters = try Self.text("Docs/Operations.md").matches(of: /\n##+ ([^\n]+)/).map { match in
            match.1.lowercased().replacing(" ", with: "-").filter { $0 == "-" || $0.isLetter || $0.isNumber }
        }
        let links = rules.matches(of: /runbook: Docs\/Operations.md#([a-z0-9-]+)\n/).map { String($0.1) }
        let count = rules.matches(of: /alert: [A-Z]/).count
        #expect(links.count == count && rules.matches(of: /severity: (critical|warning)}/).count == count)
        #expect(Set(links).isSubset(of: chapters), "\(Set(links).subtracting(chapters))")
    }
}

private let promtool = "/usr/bin/promtool"
private let isThere = FileManager.default.isExecutableFile(atPath: promtool)

/// Uses promtool from Debian's package prometheus, which `Scripts/test --thorough` installs. ServeCommandTests checks that
/// `serve` exports every metric.
@Suite("Docs/alerts.yml", .blocking, .enabled(if: isThere, "promtool is not installed")) struct AlertTests {
    @Test("Each rule fires on its fault, and none fires on a good day") func rules() throws {
        let program = Program(at: promtool, in: Checkout.folder)
        for words in [["check", "rules", "Docs/alerts.yml"], ["test", "rules", "Tests/Data/Alerts/alerts-test.yml"]] {
            let result = try program.run(words)
            #expect(result.status == 0, "\(result.output)\(result.errors)")
        }
        let rules = try Checkout.text(Checkout.folder.appending(path: "Docs/alerts.yml"))
        let tests = try Checkout.text(Checkout.folder.appending(path: "Tests/Data/Alerts/alerts-test.yml"))
        for name in rules.matches(of: /alert: (\w+)/).map(\.1) {
            #expect(tests.contains("alertname: \(name)\n"), "no test has \(name) fire")
        }
    }
}
