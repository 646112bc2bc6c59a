import Foundation
import Logging
import NIOCore
import NIOPosix
import PushCore
import PushOutbox
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("One request at a time", .blocking) struct ExchangeTests {
    // MARK: The rule

    @Test("a request begins only when the previous one was read and answered, and nothing is read in between")
    func turns() {
        var exchange = Exchange(maximumByteCount: 100)
        var begun = [exchange.begin(isLast: false), exchange.begin(isLast: false)]
        var isReading = [exchange.isReading]
        exchange.end()
        begun.append(exchange.begin(isLast: false))
        isReading.append(exchange.isReading)
        let isLast = exchange.answer(isLast: false)
        isReading.append(exchange.isReading)
        let lingers = exchange.finish()
        isReading.append(exchange.isReading)
        begun.append(exchange.begin(isLast: false))
        #expect(begun == [true, false, false, true] && isReading == [true, false, false, true])
        #expect(!isLast && !lingers)
    }

    @Test("every byte of a request counts, and the next request begins at zero") func bytes() {
        var exchange = Exchange(maximumByteCount: 100)
        let first = [exchange.receive(60), exchange.begin(isLast: false), exchange.receive(40)]
        exchange.end()
        let second = [
            exchange.answer(isLast: false), exchange.finish(), exchange.receive(60), exchange.begin(isLast: false),
            exchange.receive(40), exchange.receive(1),
        ]
        #expect(first == [true, true, true] && second == [false, false, true, true, true, false])
    }

    @Test("the first bytes of each request are decoded in small portions") func portions() {
        var exchange = Exchange(maximumByteCount: 100)
        let first = (1...18).map { _ in exchange.portion(of: 5_000) }
        #expect(first == Array(repeating: 1_024, count: 16) + [5_000, 5_000])
        _ = exchange.finish()
        let next = [10, 5_000].map { exchange.portion(of: $0) }
        #expect(next == [10, 1_024])
    }

    @Test("a large request is read whole, whether or not its sender closes its end at once", arguments: [false, true])
    func large(isEnd: Bool) async throws {
        try await RunningServer.with { server in
            let line = #"{"user":"nobody","content":{"alert":{"body":"b"}}}"# + "\n"
            let body = String(repeating: line, count: 900)
            let client = try RawClient(port: server.port)
            client.write(
                RunningServer.head(
                    "POST", "/v1/messages", "content-type: application/x-ndjson", "content-length: \(body.utf8.count)")
                    + body)
            if isEnd { client.closeOutput() }
            let head = try #require(await client.head())
            #expect(head.hasPrefix("HTTP/1.1 200 "))
            let answer = await client.bytes(Self.length(in: head))
            #expect(answer.split(separator: UInt8(ascii: "\n")).count == 900)
        }
    }

    @Test(
        "the connection lingers after a response that says so, to a request that says so, before the request's end, or to noise",
        arguments: ["response", "request", "early", "noise"])
    func last(_ kind: String) {
        var exchange = Exchange(maximumByteCount: 100)
        if kind != "noise" { _ = exchange.begin(isLast: kind == "request") }
        if kind == "request" || kind == "response" { exchange.end() }
        let isLast = exchange.answer(isLast: kind == "response")
        exchange.end()
        let lingers = exchange.finish()
        let further = [exchange.begin(isLast: false), exchange.receive(100), exchange.receive(1)]
        exchange.end()
        #expect(isLast && lingers && exchange.isReading && further == [false, true, false])
    }

    @Test("the listeners' connections leave files for everything else, and the back end has half of them")
    func descriptors() {
        for limit in [0, 20, 64, 100, 256, 1_024, 8_192, 1 << 20] {
            let counts = Door.Callers.allCases.map { $0.connectionCount(ofFiles: limit) }
            #expect(counts.allSatisfy { $0 >= 1 } && counts.reduce(0, +) <= max(limit - 64, 3), "\(limit)")
            #expect(limit < 100 || counts[0] >= counts[1...].reduce(0, +), "\(limit)")
        }
    }

    // MARK: With sockets

    /// A listener's port, and a path there that responds without a token.
    private static func everywhere(_ body: (Door.Callers, Int) async throws -> Void) async throws {
        try await RunningServer.with { server in
            try await body(.backEnd, server.port)
            try await body(.phones, server.phonesPort)
            let metrics = try MetricsServer(
                host: "127.0.0.1", port: 0, metrics: PrometheusMetrics(), outbox: server.outbox, deliveries: { nil },
                limits: .unhurried, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await RunningServer.serving(stop: metrics.stop) { listening in
                try await metrics.run { listening($0 ?? 0) }
            } during: { (port: Int) in
                try await body(.metrics, port)
            }
        }
    }

    private static let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"

    @Test("at every listener, two requests at once end the connection, and one after the other are answered")
    func pipelined() async throws {
        try await Self.everywhere { callers, port in
            let polite = try RawClient(port: port)
            for _ in 1...3 {
                polite.write(Self.request)
                let head = try #require(await polite.head())
                #expect(head.hasPrefix("HTTP/1.1 200 "), "\(callers)")
                _ = await polite.bytes(Self.length(in: head))
            }
            for count in [2, 3, 50] {
                let client = try RawClient(port: port)
                client.write(String(repeating: Self.request, count: count))
                try #require(await client.head() == nil, "\(callers)")
            }
        }
    }

    private static func length(in head: String) -> Int {
        head.lowercased().firstMatch(of: /content-length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
    }

    @Test("nothing is read from a connection whose request waits for its response") func unread() async throws {
        var limits = ServerLimits.unhurried
        limits.batchCount = 1
        try await RunningServer.with(limits: limits) { server in
            let batches = try #require(server.server).batches
            await batches.enter()
            let client = try RawClient(port: server.port)
            let line = "{}\n"
            client.write(
                RunningServer.head(
                    "POST", "/v1/messages", "content-type: application/x-ndjson", "content-length: \(line.utf8.count)")
                    + line)
            try await eventually("the batch waits") { batches.waitingCount == 1 }
            client.write(Self.request)
            // All event loops had their turn.
            for _ in 1...16 { #expect(try server.send("GET", "/healthz").status == 200) }
            let unread = Result { try Self.unreadByteCount(at: server.port, from: client.ownPort) }
            // Otherwise, the server couldn't stop.
            batches.leave()
            #expect(try unread.get() == Self.request.utf8.count)
            let head = try #require(await client.head())
            #expect(head.hasPrefix("HTTP/1.1 200 "))
            _ = await client.bytes(Self.length(in: head))
            #expect(await client.status() == 200)
        }
    }

    /// Returns how many bytes of a connection the kernel holds because the server hasn't read them.
    private static func unreadByteCount(at port: Int, from client: Int) throws -> Int {
        let hexadecimal = { (number: Int) in String(format: ":%04X", number) }
        // Foundation reads only the beginning of such a file.
        let table = try Program(at: "/bin/cat").run("/proc/net/tcp").output
        let lines = table.split(separator: "\n").map { $0.split(separator: " ") }
        let line = try #require(
            lines.first { $0[1].hasSuffix(hexadecimal(port)) && $0[2].hasSuffix(hexadecimal(client)) })
        return try #require(line[4].split(separator: ":").last.flatMap { Int($0, radix: 16) })
    }

    @Test("a request that is answered before its end is the connection's last, and the rest of it is dropped")
    func early() async throws {
        try await Self.everywhere { callers, port in
            let client = try RawClient(port: port)
            client.write("POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n")
            let head = try #require(await client.head())
            try #require(
                head.hasPrefix("HTTP/1.1 404 ") && head.lowercased().contains("connection: close"), "\(callers)")
            client.write(String(repeating: Self.request, count: 100))
            #expect(await client.rest().utf8.count == Self.length(in: head), "\(callers)")
        }
    }

    @Test("a connection after its last response makes room for others, whatever it still sends") func lingering()
        async throws
    {
        var limits = ServerLimits.unhurried
        limits.connectionCount = 1
        try await RunningServer.with(limits: limits) { server in
            let client = try RawClient(port: server.phonesPort)
            client.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            #expect(await client.status() == 200)
            client.write(Self.request)
            try await eventually("there is room for another") {
                let other = try RawClient(port: server.phonesPort)
                other.write(Self.request)
                return await other.status() == 200
            }
        }
    }

    @Test("a request's limit counts bytes on the wire, not only those of its body") func framing() async throws {
        try await RunningServer.with { server in
            let client = try RawClient(port: server.phonesPort)
            let path = "/v1/phones/pushenrollment1x"
            client.write(
                RunningServer.head("PUT", path, token: try server.login("alice"), "transfer-encoding: chunked"))
            // A body of 16 KB, which may have 64.
            let chunk = "1;\(String(repeating: "x", count: 4_000))\r\n \r\n"
            let flood = await client.flood(chunk, atMost: 16_384 * chunk.utf8.count, patience: 300)
            #expect(flood.isClosed && flood.byteCount < 16_384 * chunk.utf8.count)
            #expect(try server.send("GET", "/healthz").status == 200)
        }
    }

    @Test("through TLS, two requests at once end the connection, and a request in small chunks is read") func secure()
        async throws
    {
        try await RunningServer.secure { server, certificate in
            let result = try Program(at: "/usr/bin/python3").run(
                "-c", Self.secureCalls, String(server.port), certificate, RunningServer.token)
            #expect(
                result.trimmed == "2: b''\n1: HTTP/1.1 200\nchunks: HTTP/1.1 404", "\(result.output)\(result.errors)")
        }
    }

    private static let secureCalls = """
        import json, socket, ssl, sys
        port, certificate, token = sys.argv[1:]
        context = ssl.create_default_context(cafile=certificate)
        def call(*parts):
            with context.wrap_socket(socket.create_connection(("127.0.0.1", int(port)), 300), server_hostname="localhost") as one:
                for part in parts: one.sendall(part)
                try: return one.recv(12)
                except OSError: return b""
        request = b"GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n"
        print("2:", call(request * 2))
        print("1:", call(request).decode())
        body = json.dumps({"user": "nobody", "content": {"alert": {"body": "b"}}}).encode()
        head = f"POST /v1/messages HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer {token}\\r\\nContent-Type: application/json\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
        chunks = [b"1\\r\\n" + bytes([byte]) + b"\\r\\n" for byte in body]
        print("chunks:", call(head.encode(), b"".join(chunks[:9]), *chunks[9:], b"0\\r\\n\\r\\n").decode())
        """

    // MARK: The back end's threads

    @Test("while all threads of the phones' listener are busy, the back end is answered") func threads() async throws {
        try await RunningServer.with { server in
            let (free, stuckCount) = (DispatchSemaphore(value: 0), Locked(0))
            let loops = Array(Door.Callers.phones.group.makeIterator())
            #expect(Door.Callers.metrics.group === Door.Callers.phones.group)
            // With the same threads, the back end would wait, too, until its client gives up.
            try #require(Door.Callers.backEnd.group !== Door.Callers.phones.group)
            for loop in loops {
                loop.execute {
                    stuckCount.withLock { $0 += 1 }
                    free.wait()
                }
            }
            defer { for _ in loops { free.signal() } }
            try await eventually("all threads are busy") { stuckCount.withLock { $0 == loops.count } }
            let phone = try RawClient(port: server.phonesPort)
            phone.write(Self.request)
            let answer = Task { await phone.status() }
            for _ in 1...8 {
                let client = try RawClient(port: server.port)
                client.write(RunningServer.head("GET", "/v1/devices?user=alice"))
                try #require(await client.status() == 200)
            }
            for _ in loops { free.signal() }
            #expect(await answer.value == 200)
        }
    }
}
