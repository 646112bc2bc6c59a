import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("Hostile callers", .blocking) struct HostileTests {
    @Test("malformed requests of every kind are refused, and other callers are still answered") func malformed()
        async throws
    {
        try await RunningServer.with { server in
            let huge = String(repeating: "x", count: 40_000)
            let requests: [(String, ClosedRange<Int>)] = [
                ("GARBAGE\r\n\r\n", 400...400), ("GET / HTTP/1.1\r\nhost: a\r\nx: \(huge)\r\n\r\n", 400...431),
                ("GET /\(huge) HTTP/1.1\r\nhost: a\r\n\r\n", 400...431),
                (RunningServer.head("POST", "/v1/messages", "content-length: -1"), 400...400),
                (RunningServer.head("POST", "/v1/messages", "content-length: 2") + "{}", 415...415),
                (RunningServer.head("BREW", "/v1/messages"), 400...400),
                (RunningServer.head("GET", "/v1/phones"), 404...404),
                ("GET /v1/../v1/outbox HTTP/1.1\r\nhost: a\r\n\r\n", 401...404),
                ("GET /v1/devices/%00%ff HTTP/1.1\r\nhost: a\r\n\r\n", 401...405),
            ]
            for (request, statuses) in requests {
                let client = try RawClient(port: server.port)
                client.write(request)
                let status = await client.status()
                #expect(status.map(statuses.contains) ?? true, "\(request.prefix(40)): \(String(describing: status))")
            }
            // An invalid chunk and a truncated body are the caller's fault, not the service's.
            let head = RunningServer.head(
                "POST", "/v1/messages", "content-type: application/json", "transfer-encoding: chunked")
            let chunked = try RawClient(port: server.port)
            chunked.write(head + "zz\r\n")
            #expect(await chunked.status() == 400)
            for body in ["", "[]", "null", "{", "{\"a\":1,\"a\":2}", "\u{0}", String(repeating: "[", count: 60_000)] {
                let answer = try server.send("POST", "/v1/messages", body.isEmpty ? " " : body)
                #expect(answer.status == 400 && answer.code == "malformed", "\(answer.body)")
            }
            let large = try server.send("POST", "/v1/messages", String(repeating: " ", count: 70_000))
            #expect(large.status == 413 && large.code == "body-too-large")
            #expect(try server.send("GET", "/healthz").status == 200)
        }
    }

    @Test("a silent caller is disconnected after a while, and other callers are answered in the meantime")
    func silent() async throws {
        for isPhones in [false, true] {
            // A short limit could also cut off the good caller on a busy machine.
            try await RunningServer.with { server in
                let port = isPhones ? server.phonesPort : server.port
                let idle = try (1...200).map { _ in try RawClient(port: port) }
                #expect(try server.send("GET", "/healthz", at: port).status == 200)
                withExtendedLifetime(idle) {}
            }
            var limits = ServerLimits.unhurried
            if isPhones { limits.firstHeadTime = .seconds(1) } else { limits.idleTime = .seconds(1) }
            try await RunningServer.with(limits: limits) { server in
                let port = isPhones ? server.phonesPort : server.port
                let idle = try (1...200).map { _ in try RawClient(port: port) }
                // An unfinished head counts as silence.
                idle[0].write("GET /healthz HTTP/1.1\r\nhost: ")
                for client in idle { #expect(await client.rest().isEmpty) }
            }
        }
    }

    @Test("silent connections at the phones' listener shut out neither the back end nor other phones")
    func crowded() async throws {
        var limits = ServerLimits.unhurried
        limits.connectionCount = 8
        try await RunningServer.with(limits: limits) { server in
            let silent = try (1...20).map { _ in try RawClient(port: server.phonesPort) }
            #expect(try server.send("GET", "/healthz").status == 200)
            // The oldest connections were closed to make room.
            #expect(await silent[0].rest().isEmpty)
            // Connections in the middle of a request are kept, and a further one is refused.
            var asking: [RawClient] = []
            for _ in 1...8 {
                let client = try RawClient(port: server.phonesPort)
                asking.append(client)
                client.write(
                    RunningServer.head("POST", "/v1/receipts", "content-length: 128", "expect: 100-continue"))
                #expect(await client.status() == 100)
            }
            let ask = { () async throws -> Int? in
                let further = try RawClient(port: server.phonesPort)
                further.write("GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
                return await further.status()
            }
            #expect(try await ask() == nil)
            #expect(try server.send("GET", "/healthz").status == 200)
            // A connection whose response was sent is idle, and makes room.
            asking[0].write(String(repeating: "x", count: 128))
            #expect(await asking[0].status() == 400)
            while try await ask() != 200 { try Task.checkCancellation() }
        }
    }

    @Test("a request that never ends is cut off by its time or its size") func endless() async throws {
        var limits = ServerLimits.unhurried
        limits.requestTime = .seconds(1)
        try await RunningServer.with(limits: limits) { server in
            let stalled = try RawClient(port: server.port)
            stalled.write(
                RunningServer.head("POST", "/v1/messages", "content-type: application/json", "content-length: 100")
                    + "{")
            #expect(await stalled.rest().isEmpty)
        }
        try await RunningServer.with { server in
            let endless = try RawClient(port: server.port)
            endless.write("POST /v1/messages HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
            let chunk = "1000\r\n\(String(repeating: "x", count: 4_096))\r\n"
            let flood = await endless.flood(chunk, atMost: 64 << 20, patience: 300)
            #expect(flood.isClosed && flood.byteCount < 64 << 20)
            #expect(try server.send("GET", "/healthz").status == 200)
        }
    }

    @Test("beside idle connections and bad requests of every kind, good callers are answered and memory stays bounded")
    func manyKinds() throws {
        let script = Checkout.folder.appending(path: "Tests/Tools/Clients/hostile-callers.py").path
        let programs = Program("sealedpush").executable.deletingLastPathComponent().path
        let (count, idle) = Thoroughness.isThorough ? ("10000", "2000") : ("300", "100")
        let result = try Program(at: "/usr/bin/python3").run(["-B", script, programs, count, idle])
        print(result.output)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        let figures = try #require(result.objects.first)
        #expect(figures["requests"] as? Int == Int(count))
        #expect(figures["wrong"] as? Int == 0)
    }

    @Test("invalid tokens, and tokens that were replaced, are refused") func tokens() throws {
        for text in ["", "short", String(repeating: "t", count: 31), String(repeating: "t ", count: 20), "\n\n"] {
            #expect(throws: TokenError.self) { try BearerTokens(parsing: Array(text.utf8)) }
        }
        let old = String(repeating: "o", count: 32)
        let commented = try BearerTokens(
            parsing: Array("\u{feff}# new\n \(RunningServer.token)\t\r\n\t\n#\(old)\n\(old) ".utf8))
        for token in [RunningServer.token, old] {
            for header in ["Bearer \(token)", "BEARER  \(token)"] { #expect(commented.accept(header)) }
            for header in [token, "Bearer", "Basic \(token)", "Bearer \(token) x"] {
                #expect(!commented.accept(header))
            }
        }
        #expect(throws: TokenError.form) { try BearerTokens(parsing: Array("\(old) \(old)".utf8)) }
        let three = Array(repeating: RunningServer.token, count: 3).joined(separator: "\n")
        #expect(throws: TokenError.count) { try BearerTokens(parsing: Array(three.utf8)) }
    }
}
