import Foundation
import Glibc
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@Suite("Packaging/compose.yaml", .blocking) struct ComposeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Checks the file's form, and returns the service's command as Docker passes it on.
    private func command(_ text: String? = nil) throws -> Program.Result {
        let file =
            try text.map { try folder.write($0, to: "compose.yaml") }
            ?? Checkout.folder.appending(path: "Packaging/compose.yaml").path
        let tool = Checkout.folder.appending(path: "Tests/Tools/compose.py").path
        return try Program(at: "/usr/bin/python3").run(
            "-B", tool, file, "TOPIC=com.example.app", "APNS_KEY=ABCDE12345,FGHIJ67890")
    }

    private func made(_ name: String) throws -> String {
        try Checkout.text(Checkout.folder.appending(path: name))
    }

    private struct Ended: Error { let errors: String }

    @Test("starts the service with the image's version, and serves what the health check asks") func starts()
        async throws
    {
        let result = try command()
        #expect(result.status == 0, "\(result.errors)")
        let version = try #require(
            try made("Sources/Commands/CommandSupport/Version.swift").firstMatch(of: /let number = "([0-9.]+)"/)
        ).1
        #expect(try made("Packaging/compose.yaml").contains("image: sealed-push:\(version)\n"))
        let check = try #require(try made("Packaging/image.py").firstMatch(of: /"--ready", "([^"]+)"/)).1
        #expect(result.output.contains("--metrics=\(check)\n"))

        let key = try Program(at: "/usr/bin/openssl", in: folder.url).run(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "apns.p8")
        #expect(key.status == 0, "\(key.errors)")
        chmod(folder.appending("apns.p8").path, 0o600)
        let port = LoopbackServer.freePort()
        let places = [
            ("/var/lib/sealed-push", "\(folder.path)/data"), ("/run/secrets/apns.p8", "\(folder.path)/apns.p8"),
            ("/run/sealed-push", folder.path), ("127.0.0.1:8480", "127.0.0.1:0"), (String(check), "127.0.0.1:\(port)"),
        ]
        var words = result.output.split(separator: "\n").map(String.init)
        #expect(words.count >= 9 && words.prefix(2) == ["sealedpush", "start"])
        for (place, other) in places {
            #expect(words.contains { $0.contains(place) }, "\(place)")
            words = words.map { $0.replacing(place, with: other) }
        }
        for name in ["output", "errors"] { try folder.write("", to: name) }
        let process = try Program("sealedpush").start(
            Array(words.dropFirst()), output: FileHandle(forWritingTo: folder.appending("output")),
            errors: FileHandle(forWritingTo: folder.appending("errors")))
        defer { process.kill() }
        try await eventually("the health check passes") {
            if process.hasEnded { throw Ended(errors: try Checkout.text(folder.appending("errors"))) }
            return try Program("sealedpush").run("doctor", "--ready", "127.0.0.1:\(port)").status == 0
        }
        #expect(try Checkout.text(folder.appending("output")).contains("Serving at \(folder.path)/serve.sock"))
        Glibc.kill(process.identifier, SIGTERM)
        #expect(process.wait() == .exited(0))
    }

    @Test(
        "is refused if it has a mistake",
        arguments: [
            ("cap_drop: [ALL]", "cap_drop: [NET_RAW]", "keeps capabilities"),
            ("\"80:80\"", "\"8480:8480\"", "is published"), ("  caddy:\nsecrets", "secrets", "isn't declared"),
            ("secrets: [apns.p8]", "secrets: [other]", "isn't declared"), ("caddy:2", "caddy", "has no tag"),
            ("service_healthy", "healthy", "can't depend on"), ("service:push", "service:pull", "has no service"),
            ("read_only:", "readonly:", "unknown member"), ("  run:\n", "  run:\n  more:\n", "isn't used"),
        ])
    func mistakes(text: String, wrong: String, message: String) throws {
        let right = try made("Packaging/compose.yaml")
        #expect(right.contains(text))
        let result = try command(right.replacing(text, with: wrong))
        #expect(result.status == 1 && result.errors.contains(message), "\(result)")
    }
}
