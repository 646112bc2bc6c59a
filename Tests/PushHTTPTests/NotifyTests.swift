import Foundation
import PushOutbox
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("Notifications from scripts", .blocking) struct NotifyTests {
    private static let path = "/v1/notify/anna"

    @Test("one curl sends a text; headers or JSON add a title, a thread, and a priority") func forms() async throws {
        try await RunningServer.with { server in
            let phone = try await NotifiedPhone(of: "anna", at: server)
            let json = ["-H", "Content-Type: application/json"]
            let calls: [(arguments: [String], input: String, text: [String?], priority: PushPriority)] = [
                (["-d", "Backup failed"], "", [nil, "Backup failed", nil], .immediate),
                // Not a form, whatever curl calls it.
                (["-d", "a=1&b=%20+é"], "", [nil, "a=1&b=%20+é", nil], .immediate),
                (
                    [
                        "--data-binary", "@-", "-H", "Title: Bäckup 漢字", "-H", "Thread: é", "-H",
                        "Priority: considerate",
                    ],
                    "\u{feff}one\ntwo\r\n\n", ["Bäckup 漢字", "one\ntwo", "é"], .considerate
                ),
                (
                    [
                        "-H", "content-type: Text/Plain; charset=utf-8", "-d", "x", "-H", "title;", "-H",
                        "priority: immediate",
                    ], "", [nil, "x", nil], .immediate
                ),
                // Taken literally.
                (["-d", "x", "-H", "Title: =?utf-8?q?=C3=A9?="], "", ["=?utf-8?q?=C3=A9?=", "x", nil], .immediate),
                (json + ["-d", #"{"message":"x"}"#], "", [nil, "x", nil], .immediate),
                (
                    json + ["-d", #"{"title":"\u00e9","message":"x\ny","thread":"t","priority":"considerate"}"#], "",
                    ["é", "x\ny", "t"], .considerate
                ),
                (json + ["-d", #"{"title":null,"message":"x","thread":null}"#], "", [nil, "x", nil], .immediate),
                (json + ["-d", #"{"title":"","message":"x","thread":""}"#], "", [nil, "x", nil], .immediate),
            ]
            for (arguments, input, text, priority) in calls {
                let answer = try server.curl(Self.path, arguments, input: input)
                #expect(answer.status == 202 && answer.json["enqueued"] as? Int == 1, "\(arguments): \(answer.body)")
                #expect(MessageID(parsing: answer.json["id"] as? String ?? "") != nil)
                #expect(answer.json["alreadyEnqueued"] as? Int == 0 && answer.json["skipped"] is [String: Any])
                let pushes = try await phone.newPushes()
                let push = try #require(pushes.first, "\(arguments)")
                let content = push.content
                #expect(pushes.count == 1 && push.request.priority == priority)
                #expect([content.alert.title, content.alert.body, content.threadID] == text, "\(arguments)")
                #expect(content.sound == (priority == .immediate ? .named("default") : nil))
            }
        }
    }

    @Test("whatever isn't one text in UTF-8 is refused, and nothing is stored") func refusals() async throws {
        try await RunningServer.with { server in
            _ = try await NotifiedPhone(of: "anna", at: server)
            let (json, long) = ("application/json", String(repeating: "x", count: 5_000))
            let wrong: [(type: String, body: String, header: String?, status: Int, code: String)] = [
                ("text/plain", "x", "Priority: urgent", 400, "malformed"),
                ("text/plain", "x", "Priority: Immediate", 400, "malformed"),
                ("text/plain", "\n", nil, 422, "invalid-content"), ("text/plain", " ", nil, 422, "invalid-content"),
                ("text/plain", long, nil, 422, "too-large"),
                ("text/plain", String(repeating: "x", count: 70_000), nil, 413, "body-too-large"),
                ("text/plain", "x", "Idempotency-Key;", 400, "malformed"),
                ("text/plain", "x", "Content-Encoding: gzip", 415, "encoded"),
                ("text/html", "x", nil, 415, "wrong-media-type"),
                ("multipart/form-data; boundary=x", "x", nil, 415, "wrong-media-type"),
                ("application/x-ndjson", "{}", nil, 415, "wrong-media-type"),
                (json, "Backup failed", nil, 400, "malformed"), (json, "[]", nil, 400, "malformed"),
                (json, "{}", nil, 400, "malformed"), (json, #"{"title":"x"}"#, nil, 400, "malformed"),
                (json, #"{"message":7}"#, nil, 400, "malformed"),
                (json, #"{"message":"x","title":["y"]}"#, nil, 400, "malformed"),
                (json, #"{"message":"x","priority":"high"}"#, nil, 400, "malformed"),
                (json, #"{"message":"x","user":"bob"}"#, nil, 400, "malformed"),
                (json, #"{"message":"x","message":"y"}"#, nil, 400, "malformed"),
                (json, #"{"message":""}"#, nil, 422, "invalid-content"),
                (json, #"{"message":"\#(long)"}"#, nil, 422, "too-large"),
                (json, #"{"message":"#, nil, 400, "malformed"),
                (json, #"{"message":\#(String(repeating: "[", count: 60_000))"#, nil, 400, "malformed"),
                (json, #"{"message":"\#(String(repeating: "x", count: 70_000))"}"#, nil, 413, "body-too-large"),
            ]
            for (type, body, header, status, code) in wrong {
                let answer = try server.send("POST", Self.path, body, type: type, header: header)
                let name = "\(type) \(body.prefix(40)) \(header ?? "")"
                #expect(answer.status == status && answer.code == code, "\(name): \(answer.status) \(answer.body)")
                #expect(answer.head.contains("application/problem+json"), "\(name)")
                #expect(!answer.body.contains("Backup") && !answer.body.contains("urgent"), "\(name)")
            }
            for (path, status, code) in [
                ("/v1/notify/bob", 404, "unknown-user"), ("/v1/notify/%00", 400, "malformed"),
                ("/v1/notify/%ff", 400, "malformed"), ("/v1/notify/anna?title=x", 400, "malformed"),
                ("/v1/notify/anna/grafana", 404, "no-such-path"),
            ] {
                let answer = try server.send("POST", path, "x", type: "text/plain")
                #expect(answer.status == status && answer.code == code, "\(path): \(answer.body)")
            }
            // Bytes that aren't UTF-8, in the body and in each header; and two titles.
            for (header, body) in [
                ("Title: x", [0xe9]), ("Title: x", [0xed, 0xa0, 0x80]), ("Title: x", [0xc0, 0xaf]),
                ("Title: \u{fffd}", [0x78]), ("Title: a\r\nTitle: b", [0x78]), ("Thread: \u{fffd}", [0x78]),
                ("Priority: \u{fffd}", [0x78]),
            ] as [(String, [UInt8])] {
                let client = try RawClient(port: server.port)
                let head = RunningServer.head(
                    "POST", Self.path, "content-type: text/plain", "content-length: \(body.count)", header,
                    "connection: close")
                let bytes = Array(head.utf8).split(separator: Array("\u{fffd}".utf8), omittingEmptySubsequences: false)
                client.write("", Array(bytes.joined(separator: [0xe4])) + body)
                #expect(await client.status() == 400, "\(header)")
                #expect(await client.rest().contains(#""code":"malformed""#), "\(header)")
            }
            #expect(try await server.outbox.status().waitingCount == 0)
        }
    }

    @Test("an idempotency key makes a repeated text harmless, and another text under it is refused") func repeated()
        async throws
    {
        try await RunningServer.with { server in
            let phone = try await NotifiedPhone(of: "anna", at: server)
            let send = { (text: String, key: String) in
                try server.send("POST", Self.path, text, type: "text/plain", header: "Idempotency-Key: \(key)")
            }
            let (first, again) = (try send("x", "k"), try send("x", "k"))
            #expect(first.json["enqueued"] as? Int == 1 && again.json["alreadyEnqueued"] as? Int == 1)
            #expect(first.json["id"] as? String == again.json["id"] as? String)
            #expect(try send("y", "k").code == "key-used")
            // The back end's keys are the same ones on every path.
            #expect(
                try server.post("/v1/messages", ["user": "anna", "key": "k", "content": ["alert": ["body": "x"]]]).code
                    == "key-used")
            #expect(try await phone.newPushes().map(\.content.alert.body) == ["x"])
            // Without a key, each is a message.
            for _ in 1...2 {
                #expect(try server.curl(Self.path, ["-d", "x"]).json["enqueued"] as? Int == 1)
            }
            #expect(try await phone.newPushes().count == 2)
        }
    }
}
