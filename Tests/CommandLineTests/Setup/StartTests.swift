import Foundation
import Glibc
import PushSimulator
import TestPrograms
import TestSupport
import Testing

@Suite("start, as in a container", .blocking) struct StartTests {
    private let folder: TemporaryFolder
    private let program: Program

    init() throws {
        folder = try TemporaryFolder()
        program = Program("sealedpush", in: folder.url)
    }

    private static let words = ["start", "--in", "Push", "--topic", "com.example.app"]

    /// Runs `start` until it answers at its socket, then stops it, and returns its output and errors.
    private func startAndStop(_ more: [String] = []) async throws -> (output: String, errors: String) {
        for name in ["output", "errors"] { try folder.write("", to: name) }
        let process = try program.start(
            Self.words + more, output: FileHandle(forWritingTo: folder.appending("output")),
            errors: FileHandle(forWritingTo: folder.appending("errors")))
        defer { process.kill() }
        let socket = folder.appending("Push/serve.sock").path
        try await eventually("the service") {
            if process.hasEnded { throw Ended(errors: try Checkout.text(folder.appending("errors"))) }
            return try Program(at: "/usr/bin/curl").run(
                "-sf", "--unix-socket", socket, "http://localhost/readyz"
            ).status == 0
        }
        Glibc.kill(process.identifier, SIGTERM)
        #expect(process.wait() == .exited(0))
        return (try Checkout.text(folder.appending("output")), try Checkout.text(folder.appending("errors")))
    }

    private static let listening = """
        import socket, time
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        time.sleep(100000)
        """

    private struct Ended: Error { let errors: String }

    private func key(in output: String) throws -> String {
        String(try #require(output.split(separator: "\n").first { $0.hasPrefix("pushsender1") }))
    }

    @Test("sets up once, and shows the sender's key; later it only serves, with the same sender") func twice()
        async throws
    {
        let first = try await startAndStop()
        let key = try key(in: first.output)
        #expect(first.output.contains("▄") && first.output.contains("Serving at "), "\(first.output)")
        let second = try await startAndStop(["--sender-key", key, "--", "--metrics", "127.0.0.1:0"])
        #expect(second.output.hasPrefix("Serving at ") && !second.output.contains("created"), "\(second.output)")
        #expect(second.errors.contains("metrics are at "), "\(second.errors)")
    }

    @Test("with --sender-key, a lost volume or another's is refused, and nothing is created") func lost() async throws {
        let key = try key(in: try await startAndStop().output)
        try FileManager.default.moveItem(at: folder.appending("Push"), to: folder.appending("Lost"))
        mkdir(folder.appending("Push").path, 0o700)
        let lost = try program.run(Self.words + ["--sender-key", key])
        #expect(lost.status == 77 && lost.errors.contains("mount the volume"), "\(lost.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appending("Push").path).isEmpty)
        _ = try await startAndStop()
        let other = try program.run(Self.words + ["--sender-key", key])
        #expect(other.status == 77 && other.errors.contains("isn't the one that --sender-key names"), "\(other.errors)")
    }

    @Test("says which address is in use, and which option of serve is wrong") func unusable() async throws {
        _ = try await startAndStop()
        try folder.write("", to: "port")
        let listener = try Program(at: "/usr/bin/python3").start(
            ["-c", Self.listening], output: FileHandle(forWritingTo: folder.appending("port")))
        defer { listener.kill() }
        try await eventually("the listener") { try Checkout.text(folder.appending("port")).hasSuffix("\n") }
        let port = try Checkout.text(folder.appending("port")).trimmingCharacters(in: .newlines)
        let used = try program.run(Self.words + ["--", "--phones", "127.0.0.1:\(port)"])
        #expect(
            used.status == 74 && used.errors.contains("--phones: can't listen at 127.0.0.1:\(port)"), "\(used.errors)")
        let open = try program.run(Self.words + ["--", "--phones", "0.0.0.0:0"])
        #expect(open.status == 64 && open.errors.contains("--tls"), "\(open.errors)")
        let trial = try program.run(Self.words + ["--", "--phones", "0.0.0.0:0", "--trial"])
        #expect(trial.status == 64 && trial.errors.contains("only for a local APNs"), "\(trial.errors)")
        let unknown = try program.run(Self.words + ["--", "--no-such-option"])
        #expect(unknown.status == 64, "\(unknown.errors)")
        try folder.write("SERVE_OPTIONS=\"--default 'Hello'\"\n", to: "Push/sealed-push.env")
        let quoted = try program.run(Self.words)
        #expect(quoted.status == 65 && quoted.errors.contains("no quotes"), "\(quoted.errors)")
    }

    @Test("with --trial and a local APNs, serves addresses of other machines without TLS") func trial() async throws {
        let fixture = try await SendingFixture()
        try ServedCommand.write(String(repeating: "t", count: 43) + "\n", to: "token", fixture)
        let served = try await ServedCommand.start(
            fixture,
            ["--listen", "0.0.0.0:0", "--phones", "0.0.0.0:0", "--token-file", "token", "--apns", "APNs", "--trial"])
        let port = try #require(served.place["port"] as? Int)
        #expect(try served.curl("http://127.0.0.1:\(port)/readyz").status == "200")
        #expect(try served.curl("http://127.0.0.1:\(port)/v1/outbox").status == "401")
        #expect(served.stop() == .exited(0))
        #expect(served.errors.contains("a trial, not for production"), "\(served.errors)")
    }
}
