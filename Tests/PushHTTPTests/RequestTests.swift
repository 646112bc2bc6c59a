import Foundation
import PushOutbox
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("What a request says", .blocking) struct RequestTests {
    @Test("text in headers and paths that isn't ASCII, or isn't UTF-8 once decoded, is refused and never repaired")
    func texts() async throws {
        try await RunningServer.with { server in
            let message = RunningServer.json(["user": "alice", "content": ["alert": ["body": "b"]]])
            let latin: [UInt8] = [0x63, 0x61, 0x66, 0xe9]
            let mark = [UInt8]("\u{fffd}".utf8)
            let (accent, broken) = ([UInt8]("é".utf8), [UInt8]("%E9".utf8))
            let authorization = "authorization: Bearer \(RunningServer.token)\r\n"
            let json = "content-type: application/json\r\n"
            // What comes before and after the text, and the status; without the text, each request gets as far as 404.
            let requests: [(String, String, Int)] = [
                ("POST /v1/messages HTTP/1.1\r\n\(authorization)\(json)idempotency-key: k", "", 400),
                ("POST /v1/messages HTTP/1.1\r\n\(authorization)content-type: application/json; a=", "", 415),
                ("POST /v1/messages HTTP/1.1\r\n\(authorization)\(json)content-encoding: identity", "", 400),
                ("POST /v1/messages HTTP/1.1\r\n\(json)authorization: Bearer \(RunningServer.token)", "", 401),
                ("GET /v1/messages/x", " HTTP/1.1\r\n\(authorization)x: y", 400),
                ("DELETE /v1/devices/phone", " HTTP/1.1\r\n\(authorization)x: y", 400),
                ("DELETE /v1/users/alice", " HTTP/1.1\r\n\(authorization)x: y", 400),
                ("DELETE /v1/logins/alice", " HTTP/1.1\r\n\(authorization)x: y", 400),
                ("GET /v1/devices?user=alice", " HTTP/1.1\r\n\(authorization)x: y", 400),
                ("GET /v1/nowhere", " HTTP/1.1\r\n\(authorization)x: y", 400),
            ]
            for (start, end, status) in requests {
                for text in [latin, mark, accent] + (end.isEmpty ? [] : [broken]) {
                    let isPost = start.hasPrefix("POST")
                    let body = isPost ? message : ""
                    let client = try RawClient(port: server.port)
                    client.write(start, text)
                    client.write("\(end)\r\nhost: a\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")
                    let isUnknown = text == broken && start.hasSuffix("nowhere")
                    #expect(await client.status() == (isUnknown ? 404 : status), "\(start.prefix(40)) \(text)")
                }
            }
            for header in [
                "idempotency-key: a\r\nidempotency-key: a", "content-encoding: identity\r\ncontent-encoding: identity",
            ] {
                let client = try RawClient(port: server.port)
                client.write(
                    "POST /v1/messages HTTP/1.1\r\n\(authorization)\(json)\(header)\r\nhost: a\r\ncontent-length: \(message.utf8.count)\r\n\r\n\(message)"
                )
                #expect(await client.status() == 400, "\(header)")
            }
            #expect(try server.send("DELETE", "/v1/users/Zo%C3%AB").status == 200)
            #expect(try await server.outbox.status().waitingCount == 0)
        }
    }

    /// What says where a body ends, and the status. Only the first three are unambiguous.
    private static let framings: [(version: String, fields: [String], status: Int)] = [
        ("1.1", ["Content-Length: 7"], 400), ("1.1", ["Transfer-Encoding: chunked"], 400),
        ("1.1", ["transfer-encoding:  Chunked "], 400), ("1.1", ["Transfer-Encoding: gzip, chunked"], 0),
        ("1.1", ["Transfer-Encoding: identity, chunked"], 0), ("1.1", ["Transfer-Encoding: chunked, chunked"], 0),
        ("1.1", ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], 0),
        ("1.1", ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], 0),
        ("1.1", ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], 0),
        ("1.1", ["Transfer-Encoding: gzip"], 0), ("1.1", ["Transfer-Encoding: identity"], 0),
        ("1.1", ["Transfer-Encoding:"], 0), ("1.1", ["Transfer-Encoding: chunked;a=1"], 0),
        ("1.1", ["Transfer-Encoding: \"chunked\""], 0), ("1.1", ["Transfer-Encoding:\u{b}chunked"], 0),
        ("1.1", ["Transfer-Encoding: chunked", "Content-Length: 7"], 0),
        ("1.1", ["Content-Length: 7", "Transfer-Encoding: chunked"], 0),
        ("1.1", ["Content-Length: 7", "Content-Length: 7"], 0), ("1.1", ["Content-Length: 7, 7"], 0),
        ("1.1", ["Content-Length: +7"], 0), ("1.1", ["Content-Length: 0x7"], 0),
        ("1.0", ["Transfer-Encoding: chunked"], 0), ("1.1", ["Content-Length: 7", "Host: b"], 0),
    ]

    @Test("a request whose end or host other programs could read differently is refused, and nothing after it is read")
    func framing() async throws {
        try await RunningServer.with { server in
            for port in [server.port, server.phonesPort] {
                for (version, fields, status) in Self.framings {
                    let lines = [
                        "POST /v1/leavings HTTP/\(version)", "Host: localhost", "Content-Type: application/json",
                    ]
                    let client = try RawClient(port: port)
                    client.write((lines + fields).joined(separator: "\r\n") + "\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
                    client.closeOutput()
                    let rest = await client.rest()
                    let heads = rest.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
                    if status == 0 {
                        // Without a reason: this isn't a request yet.
                        #expect(heads == ["400"] && !rest.contains("{"), "\(fields): \(rest)")
                    } else {
                        #expect(heads.first == (port == server.port ? "404" : "400"), "\(fields): \(rest)")
                        #expect(rest.contains("{"), "\(fields): \(rest)")
                    }
                }
            }
        }
    }

    @Test("the log names an error of the outbox once") func logged() throws {
        for error in [OutboxError.diskFull, .tooManyOpenFiles, .busy] as [OutboxError] {
            let words = Reporting.words(for: error, Problem(error))
            #expect(words == error.description, "\(words)")
        }
        #expect(Reporting.words(for: Problem.noSocket, .noSocket) == Problem.noSocket.detail)
        #expect(
            Reporting.words(for: CancellationError(), Problem(CancellationError())).hasSuffix(": CancellationError"))
    }

    @Test("a member of the wrong type is named, with what is expected") func types() async throws {
        try await RunningServer.with { server in
            let content = ["alert": ["body": "b"]]
            let login = try server.login("alice")
            let phone = "/v1/phones/\(EnrollmentPrivateKey().enrollment)"
            let record: [String: Any] = ["record": "r", "token": "abcd", "environment": "production"]
            let requests: [(String, String, [String: Any], String)] = [
                ("POST", "/v1/logins", ["user": 5], "\"user\" is invalid"), ("POST", "/v1/logins", [:], "no \"user\""),
                (
                    "POST", "/v1/logins", ["user": "a", "seconds": 600_000],
                    "\"seconds\" is invalid; expected 1 to 3600 whole seconds"
                ),
                ("POST", "/v1/logins", ["user": "a", "seconds": "600"], "\"seconds\" is invalid"),
                ("POST", "/v1/logins", ["user": "a", "seconds": 1.5], "\"seconds\" is invalid"),
                ("POST", "/v1/logins", ["user": "a", "ttl": 5], "the known ones are user and seconds"),
                ("POST", "/v1/test", ["device": 5], "\"device\" is invalid"),
                ("POST", "/v1/test", ["device": "d", "user": "a"], "exactly one of"),
                ("POST", "/v1/messages", ["user": ["a"], "content": content], "\"user\" is invalid"),
                (
                    "POST", "/v1/messages", ["user": "a", "content": "text"],
                    "\"content\" is invalid; expected an object"
                ),
                ("POST", "/v1/messages", ["user": "a", "content": NSNull()], "no \"content\""),
                (
                    "POST", "/v1/messages", ["user": "a", "content": content, "unverified": "true"],
                    "\"unverified\" is invalid"
                ),
                ("PUT", phone, record.merging(["token": 5]) { $1 }, "\"token\" is invalid"),
                ("PUT", phone, record.merging(["environment": "development"]) { $1 }, "\"environment\" is invalid"),
                ("PUT", phone, record.merging(["record": NSNull()]) { $1 }, "no \"record\""),
                (
                    "PUT", phone, record.merging(["user": "a"]) { $1 },
                    "the known ones are record, token, and environment"
                ),
                ("POST", phone + "/answers", ["answer": 5, "state": "s"], "\"answer\" is invalid; expected a string"),
            ]
            for (method, path, members, words) in requests {
                let token = path.hasPrefix(phone) ? login : RunningServer.token
                let answer = try server.send(method, path, RunningServer.json(members), token: token)
                #expect(
                    answer.status == 400 && (answer.json["detail"] as? String)?.contains(words) == true,
                    "\(answer.body)")
            }
        }
    }
}
