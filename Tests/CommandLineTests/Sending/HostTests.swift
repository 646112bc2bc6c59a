import Foundation
import Glibc
import PushSimulator
import SimulatedAPNs
import TestPrograms
import TestSupport
import Testing

/// What an operator relies on: service managers, versions, the checks of a host, and a proxy.
@Suite("Services and hosts", .blocking) struct HostTests {
    @Test("serve and work notify a service manager when they are ready, while they run, and when they stop")
    func notifications() async throws {
        let fixture = try await SendingFixture()
        for command in ["serve", "work"] {
            let manager = try NotifySocket(fixture.folder.appending("\(command).notify").path)
            let words =
                command == "serve" ? ServedCommand.words + ["--listen", "own.sock"] : ["work", "--apns", "APNs"]
            if command == "work" { try fixture.device("phone") }
            let process = try Program("sealedpush", in: fixture.folder.url).start(
                words, environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "90000"])
            #expect(manager.next() == "READY=1")
            for _ in 1...3 { #expect(manager.next() == "WATCHDOG=1") }
            kill(process.identifier, SIGTERM)
            var last = manager.next()
            while last == "WATCHDOG=1" { last = manager.next() }
            #expect(last == "STOPPING=1")
            #expect(process.wait().status == 0)
        }
    }

    @Test("the version is printed, logged, and shown as a metric") func version() async throws {
        let fixture = try await SendingFixture()
        let version = try fixture.run(["--version"]).trimmed
        #expect(version.wholeMatch(of: /\d+\.\d+\.\d+ \(unknown\)/) != nil)
        #expect(try Program("device-simulator").run("--version").trimmed == version)
        let service = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--metrics", "127.0.0.1:0"])
        #expect(service.errors.contains("sealedpush: version \(version)\n"))
        let number = version.prefix { $0 != " " }
        let metrics = try #require(service.errors.firstMatch(of: /http:\S+/)?.output)
        #expect(
            try service.curl(String(metrics)).body.contains(
                "push_build_info{version=\"\(number)\",commit=\"unknown\"} 1"))
    }

    @Test("doctor --host checks the clock, the trust roots, the outbox, and APNs; --ready checks a service")
    func doctor() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("phone")
        func check(_ arguments: String...) throws -> [String: (outcome: String, words: String)] {
            let result = try fixture.run(["doctor", "--json"] + arguments)
            let found = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: String]] ?? []
            let failed = found.contains { $0["outcome"] == "failed" }
            #expect(result.status == (failed ? 1 : 0), "\(result)")
            return Dictionary(uniqueKeysWithValues: found.map { ($0["name"]!, ($0["outcome"]!, $0["words"]!)) })
        }
        let here = try check("--host", "--topic", SendingFixture.topic, "--apns", "APNs")
        #expect(here.keys.sorted() == ["apns", "clock", "outbox", "trust-roots", "version"])
        #expect(here["apns"]!.outcome == "ok" && here["apns"]!.words.hasSuffix("accepts the key and the topic"))
        #expect(here["outbox"]!.words == "outbox.sqlite can be read; devices: 1")
        #expect(here["trust-roots"]!.outcome == "ok")

        _ = try fixture.makeAPNsWithWrongKey("Other")
        let other = try check("--host", "--topic", SendingFixture.topic, "--apns", "Other", "--outbox", "none.sqlite")
        #expect(other["apns"]!.words.hasPrefix("APNs answers InvalidProviderToken"))
        #expect(other["outbox"]!.outcome == "failed")
        #expect(try check("--host")["apns"]!.outcome == "skipped")

        let service = try await ServedCommand.start(fixture, ["--listen", "own.sock", "--metrics", "127.0.0.1:0"])
        #expect(try check("--ready", "own.sock")["ready"]!.outcome == "ok")
        let port = try #require(service.errors.firstMatch(of: /http:\/\/(127\.0\.0\.1:\d+)\/metrics/)?.output.1)
        #expect(try check("--ready", String(port))["ready"]!.outcome == "ok")
        try Data("not a keyring".utf8).write(to: fixture.folder.appending("Keys/keyring.txt"))
        service.signal()
        try await eventually("the service isn't ready") {
            try check("--ready", "own.sock")["ready"]!.words.hasPrefix("own.sock answers 503")
        }
        #expect(service.stop().status == 0)
        #expect(try check("--ready", "own.sock")["ready"]!.words == "no service answers at own.sock")
    }

    @Test("pushes go through an HTTP proxy, which sees only the server's name; a refusal is named")
    func proxy() async throws {
        let fixture = try await SendingFixture()
        try fixture.device("phone")
        let proxy = try await Proxy(in: fixture.folder, allowing: fixture.apns.address.port)
        let sent = try fixture.send("--device", "phone", "--proxy", "127.0.0.1:\(proxy.port)")
        #expect(sent.status == 0, "\(sent)")
        #expect(try proxy.log.contains("CONNECT localhost:\(fixture.apns.address.port)"))
        #expect(try !proxy.log.contains("/3/device"))

        let closed = try await Proxy(in: fixture.folder, allowing: 1)
        let refused = try fixture.run([
            "doctor", "--host", "--topic", SendingFixture.topic, "--apns", "APNs", "--proxy",
            "localhost:\(closed.port)",
        ])
        #expect(refused.status == 1)
        #expect(refused.output.contains("the proxy localhost:\(closed.port) doesn't open a connection to this server"))
        #expect(try fixture.send("--device", "phone", "--proxy", "127.0.0.1:0").status == 64)
    }
}

/// A service manager's socket, as systemd creates it.
private struct NotifySocket: ~Copyable {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        // A program that ended without a message fails the test instead of holding it.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Waits for the next message; returns an empty text if none comes in two minutes.
    func next() -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }
}

/// Debian's tinyproxy, which allows CONNECT to one port.
private final class Proxy: Sendable {
    let port: Int
    private let process: ChildProcess
    private let logFile: URL

    var log: String { get throws { try Checkout.text(logFile) } }

    init(in folder: TemporaryFolder, allowing allowed: Int) async throws {
        let (port, name) = (LoopbackServer.freePort(), "proxy-\(allowed)")
        logFile = folder.appending("\(name).log")
        let configuration = try folder.write(
            """
            Port \(port)
            Listen 127.0.0.1
            LogFile "\(logFile.path)"
            LogLevel Info
            ConnectPort \(allowed)

            """, to: "\(name).conf")
        process = try Program(at: "/usr/bin/tinyproxy", in: folder.url).start(["-d", "-c", configuration])
        self.port = port
        try await eventually("the proxy listens") { [logFile] in
            (try? Checkout.text(logFile).contains("Accepting connections")) ?? false
        }
    }

    deinit { process.kill() }
}
