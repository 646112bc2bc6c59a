import Foundation
import Logging
import PushOutbox
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("HTTP as spoken by other clients", .blocking) struct OtherClientsTests {
    /// A request's first line and its own fields, the response's status, and text in its head.
    private static let requests: [(line: String, fields: [String], status: Int, words: String)] = [
        ("HEAD /healthz", [], 200, "content-length: 20\r\n"), ("HEAD /readyz", [], 200, "content-length: 18\r\n"),
        ("HEAD /v1/devices", [], 200, "content-type: application/json\r\n"), ("HEAD /nowhere", [], 404, ""),
        ("HEAD /v1/messages", [], 405, "allow: POST\r\n"), ("PATCH /v1/messages", [], 405, "allow: POST\r\n"),
        ("DELETE /v1/devices", [], 405, "allow: GET, HEAD\r\n"), ("QUERY /healthz", [], 405, "allow: GET, HEAD\r\n"),
        ("OPTIONS /v1/devices/x", [], 405, "allow: DELETE\r\n"), ("QUERY /nowhere", [], 404, ""),
        ("PROPFIND /v1/messages", [], 501, "application/problem+json\r\n"),
        ("POST /v1/messages", ["Content-Type:\tapplication/json\t; charset=utf-8", "Content-Length: 2"], 400, ""),
        (
            "POST /v1/messages", ["Content-Type: application/json", "Content-Encoding: gzip", "Content-Length: 2"], 415,
            "accept-encoding: identity\r\n"
        ),
        (
            "POST /v1/seal", ["Content-Type: application/x-ndjson", "Content-Encoding: br", "Content-Length: 2"], 415,
            "accept-encoding: identity\r\n"
        ),
        (
            "POST /v1/messages",
            ["Content-Type: application/json", "Content-Encoding: Identity", "Content-Length: 2"], 400, ""
        ),
    ]

    @Test("HEAD works wherever GET does; other methods and encodings are refused with the supported ones") func heads()
        async throws
    {
        try await RunningServer.with { server in
            for (line, fields, status, words) in Self.requests {
                let client = try RawClient(port: server.port)
                let head =
                    ["\(line) HTTP/1.1", "Host: localhost", "Authorization:   bearer   \(RunningServer.token)  "]
                    + fields
                client.write(head.joined(separator: "\r\n") + "\r\n\r\n" + (fields.isEmpty ? "" : "{}"))
                let answer = try #require(await client.head(), "\(line)")
                // The connection takes the next request after the response.
                client.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(line): \(answer)")
                #expect(answer.lowercased().contains(words.lowercased()) || words.isEmpty, "\(line): \(answer)")
                // A response to HEAD has no body, so the next response follows; then the connection is closed.
                if line.hasPrefix("HEAD") { #expect(await client.status() == 200) }
                #expect(await client.rest().hasSuffix(#"{"status":"running"}"#))
            }
        }
    }

    @Test("HTTP/1.0 gets its response and is closed; a client that expects 100-continue is told to continue")
    func versions() async throws {
        try await RunningServer.with { server in
            for fields in ["", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n"] {
                let old = try RawClient(port: server.port)
                old.write("GET /healthz HTTP/1.0\r\n\(fields)\r\n")
                let answer = await old.rest()
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix(#"{"status":"running"}"#), "\(answer)")
            }
            let waiting = try RawClient(port: server.port)
            waiting.write(
                RunningServer.head(
                    "POST", "/v1/messages", "content-type: application/json", "content-length: 2",
                    "expect: 100-continue"))
            #expect(await waiting.status() == 100)
            waiting.write("{}")
            #expect(await waiting.status() == 400)
        }
    }

    @Test("curl, wget, Python's http.client, and Node's fetch get the expected responses") func programs() async throws
    {
        try await RunningServer.asProgram(over: .sqlite) { server in
            let (url, token) = ("http://127.0.0.1:\(server.port)", "Authorization: Bearer \(RunningServer.token)")
            let batch = try server.folder.write("{}\n\n{}\n", to: "batch")
            let lines = ["Content-Type: application/x-ndjson", "--data-binary", "@\(batch)", "\(url)/v1/seal"]
            let status = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H", token]
            let calls: [(program: String, arguments: [String], output: String)] = [
                ("curl", status + ["-I", "\(url)/healthz"], "200"),
                ("curl", status + ["--http1.0", "\(url)/v1/outbox"], "200"),
                ("curl", status + ["-H", "Expect: 100-continue", "-H"] + lines, "200"),
                ("curl", status + ["--compressed", "-X", "PUT", "\(url)/v1/seal"], "405"),
                ("wget", ["-q", "--spider", "\(url)/readyz"], ""),
                ("wget", ["-q", "-O", "/dev/null", "--header", token, "\(url)/v1/devices?limit=1"], ""),
                (
                    "python3", ["-c", Self.python, String(server.port), RunningServer.token],
                    "200 200 405 POST 415 identity 200"
                ),
                (
                    "node", ["--input-type=module", "-e", Self.node, url, RunningServer.token],
                    "200 200 405 POST 1,3 404"
                ),
            ]
            for (name, arguments, output) in calls {
                guard FileManager.default.isExecutableFile(atPath: "/usr/bin/\(name)") else {
                    print("Not tested: \(name) is not installed.")
                    continue
                }
                let result = try Program(at: "/usr/bin/\(name)").run(arguments)
                #expect(result.status == 0 && result.trimmed == output, "\(name): \(result.output)\(result.errors)")
            }
        }
    }

    private static let python = """
        import gzip, http.client, sys
        connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=300)
        said = []
        def ask(method, path, body=None, *fields, **headers):
            headers |= {"Authorization": "Bearer " + sys.argv[2], "Content-Type": "application/json"}
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            answer.read()
            said.extend([str(answer.status)] + [answer.headers[name] for name in fields])
        ask("HEAD", "/v1/receipts")
        ask("GET", "/v1/receipts")
        ask("GET", "/v1/messages", None, "Allow")
        ask("POST", "/v1/messages", gzip.compress(b"{}"), "Accept-Encoding", Content_Encoding="gzip")
        ask("GET", "/healthz")
        print(*said)
        """

    private static let node = """
        const [url, token] = process.argv.slice(1)
        const ask = (method, path, body, type = 'application/json') =>
          fetch(url + path, { method, body, headers: { authorization: 'Bearer ' + token, 'content-type': type } })
        const said = []
        for (const method of ['HEAD', 'GET']) said.push((await ask(method, '/v1/outbox')).status)
        const refused = await ask('DELETE', '/v1/messages')
        said.push(refused.status, refused.headers.get('allow'))
        const lines = await (await ask('POST', '/v1/messages', '{}\\n\\t\\n{}\\n', 'application/x-ndjson')).text()
        said.push(lines.trim().split('\\n').map(line => JSON.parse(line).line).join())
        const message = { user: 'alice', content: { alert: { title: 'Nina' } } }
        said.push((await ask('POST', '/v1/messages', JSON.stringify(message))).status)
        console.log(said.join(' '))
        """

    @Test("a local listener without a token refuses requests under a host name that is not this machine's")
    func rebound() async throws {
        try await RunningServer.with { server in
            let metrics = try MetricsServer(
                host: "127.0.0.1", port: 0, metrics: PrometheusMetrics(), outbox: server.outbox, deliveries: { nil },
                limits: .unhurried, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await RunningServer.serving(stop: metrics.stop) { listening in
                try await metrics.run { listening($0 ?? 0) }
            } during: { (port: Int) throws in
                let status = { (port: Int, path: String, host: String) in
                    let words = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: \(host)"]
                    return try Program(at: "/usr/bin/curl").run(words + ["http://127.0.0.1:\(port)\(path)"]).trimmed
                }
                for path in ["/metrics", "/readyz"] {
                    for host in ["rebound.example", "rebound.example:\(port)", "127.0.0.1.example", "10.0.0.1"] {
                        #expect(try status(port, path, host) == "421", "\(host)")
                    }
                    for host in ["127.0.0.1", "LocalHost:1", "[::1]:\(port)"] {
                        #expect(try status(port, path, host) == "200", "\(path) \(host)")
                    }
                }
                #expect(try status(server.port, "/readyz", "rebound.example") == "421")
                // A request through a proxy has the proxy's name.
                #expect(try status(server.phonesPort, "/healthz", "push.example.com") == "200")
            }
        }
    }
}
