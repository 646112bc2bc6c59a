import Foundation
import Logging
import PushOutbox
import PushSender
import PushService
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("A back end and the server", .blocking) struct BackEndTests {
    private static let withdrawal: [String: [String: String]] = ["withdraw": ["thread": "nina"]]
    private static let content: [String: [String: String]] = ["alert": ["title": "Nina", "body": "Lunch at one?"]]

    @Test("a back end's paths accept only its own token, and phones' paths don't accept it") func tokens() async throws
    {
        let old = String(repeating: "o", count: 40)
        try await RunningServer.with(tokens: "\(RunningServer.token)\n\(old)\n") { server in
            let login = try server.login("alice")
            for token in [RunningServer.token, old] {
                #expect(try server.send("GET", "/v1/outbox", token: token).status == 200)
                #expect(try server.send("GET", "/v1/sender-set", token: token).status == 401)
            }
            #expect(try server.send("GET", "/v1/sender-set", token: login).status == 200)
            for token in [nil, login, "", RunningServer.token + "t", String(RunningServer.token.dropLast())] {
                let answer = try server.send("GET", "/v1/outbox", token: token)
                #expect(answer.status == 401 && answer.code == "unauthorized")
                #expect(answer.head.lowercased().contains("www-authenticate: bearer"))
            }
            let path = "/v1/phones/\(EnrollmentPrivateKey().enrollment)"
            // The end, the issue time, the account's name, and the MAC.
            let altered = (1...4).map { place in
                var parts = login.split(separator: ".").map { String($0) }
                parts[place] = (parts[place].hasPrefix("9") ? "8" : "9") + parts[place].dropFirst()
                return parts.joined(separator: ".")
            }
            for token in altered + [nil, RunningServer.token, "pushlogin.", login + "A"] {
                #expect(try server.send("DELETE", path, token: token).status == 401)
            }
            #expect(try server.send("DELETE", path, token: login).status == 204)
            #expect(try server.send("GET", "/healthz", token: nil).status == 200)
            #expect(try server.send("GET", "/readyz", token: nil).status == 200)
        }
    }

    @Test(
        "the phones' listener has no back-end paths and the back end's has no phone paths, whatever the token")
    func doors() async throws {
        try await RunningServer.with { server in
            let login = try server.login("alice")
            let paths = [
                ("POST", "/v1/logins"), ("POST", "/v1/messages"), ("POST", "/v1/seal"), ("GET", "/v1/devices"),
                ("DELETE", "/v1/devices/x"), ("GET", "/v1/outbox"), ("GET", "/readyz"), ("GET", "/metrics"),
            ]
            for (method, path) in paths {
                for token in [nil, login, RunningServer.token] {
                    let answer = try server.send(method, path, token: token, at: server.phonesPort)
                    #expect(answer.status == 404, "\(method) \(path): \(answer.body)")
                }
            }
            for token in [login, RunningServer.token] {
                // This path exists here for POST.
                #expect(try server.send("GET", "/v1/receipts", token: token, at: server.phonesPort).status == 405)
                #expect(try server.send("GET", "/v1/sender-set", token: token, at: server.port).status == 404)
                let path = "/v1/phones/\(EnrollmentPrivateKey().enrollment)"
                #expect(try server.send("DELETE", path, token: token, at: server.port).status == 404)
            }
        }
    }

    private struct Forwarded {
        let target: String
        let fields: [String]
        let status: Int

        init(_ target: String, _ fields: [String], _ status: Int) {
            (self.target, self.fields, self.status) = (target, fields, status)
        }
    }

    /// Requests that arrive at a back end's socket, and the status without a token.
    private static let forwarded = [
        Forwarded("/v1/outbox HTTP/1.1", ["Host: localhost"], 200),
        Forwarded("/v1/outbox HTTP/1.1", ["host: LocalHost:80"], 200),
        Forwarded("/v1/outbox HTTP/1.1", ["Host: localhost", "X-Own: 1", "Connection: keep-alive"], 200),
        // By default, nginx sends this.
        Forwarded("/v1/outbox HTTP/1.0", ["Host: localhost", "Connection: close"], 403),
        Forwarded("/v1/outbox HTTP/1.0", [], 403),
        Forwarded("http://localhost/v1/outbox HTTP/1.1", ["Host: localhost"], 403),
        Forwarded("/v1/outbox HTTP/1.1", [], 421),
        Forwarded("/v1/outbox HTTP/1.1", ["Host: push.example.com"], 421),
        Forwarded("/v1/outbox HTTP/1.1", ["Host: localhost.example"], 421),
        Forwarded("/v1/outbox HTTP/1.1", ["Host: 127.0.0.1"], 421),
        Forwarded("/v1/outbox HTTP/1.1", ["Host: localhost", "Host: localhost"], 400),
        Forwarded("/readyz HTTP/1.1", ["Host: push.example.com"], 421),
        Forwarded("/healthz HTTP/1.0", ["Host: localhost"], 403),
        // A client can't hide what the service notes about a request.
        Forwarded("/v1/outbox HTTP/1.0", ["Host: localhost", "Sealed-Push-Proxy: 0"], 403),
        Forwarded("/v1/outbox HTTP/1.1", ["Host: localhost", "Sealed-Push-Proxy: 1"], 200),
    ]

    private static let proxyHeaders = [
        "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Via", "CF-Connecting-IP", "True-Client-IP",
        "X-Client-IP", "X-Cluster-Client-IP", "Fastly-Client-IP", "X-Envoy-External-Address", "X-Amzn-Trace-Id",
        "CDN-Loop",
    ]

    @Test(
        "at a socket without tokens, what a proxy would send is refused; with a token, it isn't",
        arguments: [false, true])
    func proxied(hasToken: Bool) async throws {
        let folder = try TemporaryFolder()
        let sender = SenderPrivateKey()
        let path = folder.appending("back-end.sock").path
        let server = try PushServer(
            at: .socket(path), outbox: Outbox(at: folder.appending("outbox.db").path),
            state: ServerState(
                keys: RunningServer.keys(of: sender), senderSet: nil,
                tokens: hasToken ? BearerTokens(parsing: Array(RunningServer.token.utf8)) : nil),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await RunningServer.serving(stop: server.stop) { listening in
            try await server.run { _, _ in listening(path) }
        } during: { (_: String) in
            let withHeaders = Self.proxyHeaders.map {
                Forwarded("/v1/outbox HTTP/1.1", ["Host: localhost", "\($0): 1"], 403)
            }
            for request in Self.forwarded + withHeaders {
                let fields = request.fields + (hasToken ? ["Authorization: Bearer \(RunningServer.token)"] : [])
                let head = "GET \(request.target)\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
                let client = try RawClient(socket: path)
                client.write(head)
                // Two hosts are ambiguous for everyone.
                let status = hasToken && request.status != 400 ? 200 : request.status
                #expect(await client.status() == status, "\(head)")
            }
            #expect(try await ServerPlace.socket(path).readiness() == 200)
        }
    }

    @Test("a login expires on time, and tokens are replaced without a restart") func ends() async throws {
        try await RunningServer.with { server in
            let short = try server.login("alice", seconds: 1)
            try await eventually("the login expires") {
                try server.send("GET", "/v1/sender-set", token: short).status == 401
            }
            let new = String(repeating: "n", count: 32)
            server.server?.use(senderSet: nil)
            server.server?.use(tokens: try BearerTokens(parsing: Array(new.utf8)))
            #expect(try server.send("GET", "/v1/outbox").status == 401)
            let login = try server.login("alice", token: new)
            #expect(try server.send("GET", "/v1/sender-set", token: login).status == 204)
            for seconds in [0, 3_601] {
                #expect(try server.post("/v1/logins", ["user": "a", "seconds": seconds], token: new).status == 400)
            }
        }
    }

    @Test("a login and a challenge's state are valid only at the service with that app and name") func bound() throws {
        let (sender, user) = (SenderPrivateKey(), UserName(parsing: "42")!)
        func keys(_ topic: Topic, _ service: ServiceName?) -> SenderKeys {
            SenderKeys(
                sender: sender, sealer: Sealer(sender: sender, topic: topic, safeDefault: "New"),
                receipts: ReceiptReceiver(keys: []), service: service)
        }
        let own = keys("com.example.app", nil)
        let login = own.login(of: user, until: .now().advanced(bySeconds: 600), issued: 1)
        let state = own.challenges.seal("state", for: "phone")
        let same = keys("com.example.app", "com.example.app")
        #expect(same.login(parsing: login, at: .now())?.user == user)
        #expect(same.challenges.open(state, for: "phone") == "state")
        for other in [
            keys("com.example.bank", nil), keys("com.example.app", "staging"), keys("com.example.app", "Staging"),
        ] {
            #expect(other.login(parsing: login, at: .now()) == nil)
            #expect(other.challenges.open(state, for: "phone") == nil)
        }
        // The parts are delimited: none can extend into the next.
        let texts = AuthenticatedTexts(of: sender, for: "test", of: "a.b", service: "s")
        for (text, name) in [("ext", "namet"), ("nametext", ""), ("", "nametext")] {
            let mac = texts.seal("text", for: "name").dropFirst(4)
            #expect(texts.open(text + mac, for: name) == nil)
        }
    }

    @Test("a back end ends a user's logins, and erases a user", arguments: RunningServer.Store.allCases)
    func users(over store: RunningServer.Store) async throws {
        try await RunningServer.asProgram(over: store) { server in
            let (alice, bob) = (try server.login("alice"), try server.login("bob"))
            let phone = try server.phone("phone")
            #expect(try await server.update(phone, with: alice, token: [1, 2]).isRegistered)
            #expect(try await server.update(server.phone("other"), with: bob, token: [3, 4]).isRegistered)
            #expect(try server.send("DELETE", "/v1/logins/alice").status == 204)
            #expect(try server.send("GET", "/v1/sender-set", token: alice).code == "unauthorized")
            #expect(try server.send("GET", "/v1/sender-set", token: bob).status == 200)
            let new = try server.login("alice")
            #expect(try server.send("GET", "/v1/sender-set", token: new).status == 200)

            let recipient = try #require(try await server.outbox.devices(of: "alice").first?.enrolled?.proven.first)
            let id = ReceiptKey(of: server.sender, for: RunningServer.topic).id(of: recipient)
            let sent = try server.post("/v1/messages", ["user": "alice", "key": "k", "content": Self.content])
            let message = try #require(sent.json["id"] as? String)
            let told = try server.send("GET", "/v1/messages/\(message)")
            #expect(told.json["enqueued"] as? Int == 1 && (told.json["outcomes"] as? [String: Int]) == ["waiting": 1])
            #expect((told.json["devices"] as? [[String: String]])?.first?["outcome"] == "waiting")
            #expect(try server.send("GET", "/v1/messages/\(MessageID.random())").code == "unknown-message")
            #expect(try server.send("GET", "/v1/messages/\(message.uppercased())").status == 200)
            #expect(try server.send("GET", "/v1/messages/x").status == 400)

            let erased = try server.send("DELETE", "/v1/users/alice")
            #expect(erased.json["devices"] as? Int == 1 && erased.json["discarded"] as? Int == 1, "\(erased.body)")
            #expect(try server.send("GET", "/v1/sender-set", token: new).status == 401)
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
            #expect(try await server.outbox.devices(of: "bob").count == 1)
            #expect(try await server.outbox.receipts(of: id) == nil)
            let afterwards = try server.send("GET", "/v1/messages/\(message)")
            #expect(afterwards.json["outcomes"] as? [String: Int] == ["discarded": 1], "\(afterwards.body)")
            #expect((afterwards.json["devices"] as? [Any])?.isEmpty == true)
            #expect(try server.send("DELETE", "/v1/users/alice").json["devices"] as? Int == 0)
        }
    }

    @Test("a phone without a login leaves with its enrollment key's signature, which counts once") func leaving()
        async throws
    {
        try await RunningServer.with { server in
            let key = EnrollmentPrivateKey()
            func enroll(_ counter: UInt64, as user: String) throws -> Int {
                let now = Timestamp.now()
                let record = try DeviceRecord(
                    of: [DevicePrivateKey().recipient], topic: RunningServer.topic, counter: counter, created: now,
                    expires: now.advanced(bySeconds: 86_400), signedBy: key)
                return try server.send(
                    "PUT", "/v1/phones/\(key.enrollment)",
                    RunningServer.json(["record": record.description, "token": "0102", "environment": "production"]),
                    token: server.login(user)
                ).status
            }
            func leave(_ leaving: String) throws -> RunningServer.Answer {
                try server.send(
                    "POST", "/v1/leavings", RunningServer.json(["leaving": leaving]), token: nil, at: server.phonesPort)
            }
            let leaving = Leaving(counter: 8, topic: RunningServer.topic, signedBy: key)
            let enrolled = try ["alice", "bob"].map { try enroll(7, as: $0) }
            #expect(enrolled == [200, 200])
            let stranger = Leaving(counter: 8, topic: RunningServer.topic, signedBy: EnrollmentPrivateKey())
            let wrong: [String] = [
                "x", Leaving(counter: 8, topic: "com.example.bank", signedBy: key).description,
                leaving.description.replacing("pushleaving.", with: "pushleaving.A"),
                "\(stranger.description.prefix(40))\(leaving.description.dropFirst(40))",
            ]
            let refused = try wrong.map { try leave($0).status }
            #expect(refused == [400, 400, 400, 400])
            let elsewhere = try leave(
                Leaving(counter: 8, topic: RunningServer.topic, service: "staging", signedBy: key).description)
            #expect(elsewhere.status == 409 && elsewhere.code == "other-service")
            #expect(try leave(String(repeating: "x", count: 1_024)).code == "body-too-large")
            let earlier = Leaving(counter: 7, topic: RunningServer.topic, signedBy: key)
            #expect(try leave(earlier.description).status == 204)
            #expect(try await server.outbox.devices(of: "alice").count == 1)
            #expect(try leave(leaving.description).status == 204)
            #expect(try await server.outbox.status().deviceCount == 0)
            // Without a known device, an older record can't be told from a newer one; a newer record stays.
            #expect(try enroll(9, as: "alice") == 200)
            #expect(try leave(leaving.description).status == 204)
            #expect(try await server.outbox.devices(of: "alice").count == 1)
            // A leaving outranks even the highest counter of a record.
            #expect(try enroll(RecordCounter.maximum, as: "alice") == 200)
            let last = Leaving(counter: RecordCounter.maximum + 1, topic: RunningServer.topic, signedBy: key)
            #expect(try leave(last.description).status == 204)
            #expect(try await server.outbox.status().deviceCount == 0)
        }
    }

    @Test("an account over its rate limit waits, and others don't") func rates() async throws {
        var limits = ServerLimits.unhurried
        limits.accountBurst = 3
        let start = ContinuousClock.now
        limits.clock = { start }
        try await RunningServer.with(limits: limits) { server in
            let (alice, bob) = (try server.login("alice"), try server.login("bob"))
            let answers = try (1...8).map { _ in try server.send("GET", "/v1/sender-set", token: alice) }
            let refused = try #require(answers.first { $0.status == 429 })
            #expect(answers[0].status == 200 && refused.code == "too-many-requests")
            #expect(refused.head.lowercased().contains("retry-after: "))
            #expect(try server.send("GET", "/v1/sender-set", token: bob).status == 200)
        }
    }

    @Test("each malformed message is refused with its own code, and none is partly enqueued") func messages()
        async throws
    {
        try await RunningServer.with { server in
            #expect(try await server.update(server.phone("phone"), as: "alice").isRegistered)
            let wrong: [([String: Any], Int, String)] = [
                (["user": "bob", "content": Self.content], 404, "unknown-user"),
                (["device": "phone", "content": Self.content], 404, "unknown-device"),
                (["user": "alice", "all": true, "content": Self.content], 400, "malformed"),
                (["content": Self.content], 400, "malformed"), (["user": "alice"], 400, "malformed"),
                (["user": "alice", "content": "text"], 400, "malformed"),
                (["user": "alice", "content": ["alert": "text"]], 422, "invalid-content"),
                (["user": "alice", "content": Self.content, "priorty": "immediate"], 400, "malformed"),
                (["user": "alice", "content": Self.content, "priority": "now"], 400, "malformed"),
                (["user": "alice", "content": Self.content, "key": ""], 400, "malformed"),
                (["user": "", "content": Self.content], 400, "malformed"),
                (
                    ["user": "alice", "content": ["alert": ["body": String(repeating: "x", count: 5_000)]]], 422,
                    "too-large"
                ),
            ]
            for (message, status, code) in wrong {
                let answer = try server.post("/v1/messages", message)
                #expect(answer.status == status && answer.code == code, "\(answer.body)")
                #expect(answer.head.contains("application/problem+json"))
                #expect(answer.json["status"] as? Int == status && answer.json["detail"] is String)
                #expect(!answer.body.contains("Lunch") && !answer.body.contains("priorty"))
            }
            #expect(try await server.outbox.status().waitingCount == 0)
            let used = try server.post("/v1/messages", ["user": "alice", "key": "k", "content": Self.content])
            #expect(used.status == 202)
            let other = try server.post("/v1/messages", ["all": true, "key": "k", "content": Self.content])
            #expect(other.status == 409 && other.code == "key-used")
            let again = RunningServer.json(["user": "alice", "key": "k", "content": Self.content])
            let marked = try server.send("POST", "/v1/messages", "\u{feff}" + again)
            #expect(marked.json["alreadyEnqueued"] as? Int == 1, "\(marked.body)")
            #expect(try await server.outbox.status().waitingCount == 1)
        }
    }

    @Test("a message that would never be sent is refused, and the Idempotency-Key header counts as the key")
    func neverTried()
        async throws
    {
        try await RunningServer.with { server in
            #expect(try await server.update(server.phone("phone"), as: "alice").isRegistered)
            let name = try #require(try await server.outbox.devices(of: "alice").first?.name.description)
            let alert = ["body": "b"]
            let past: [[String: Any]] = [
                ["expiration": 86_400, "content": ["alert": alert]],
                ["content": ["alert": alert, "expires": Timestamp.now().secondsSince1970 - 1] as [String: Any]],
            ]
            for members in past {
                for (path, target) in [("/v1/messages", ["user": "alice"]), ("/v1/seal", ["device": name])] {
                    let answer = try server.post(path, members.merging(target) { $1 })
                    #expect(answer.status == 422 && answer.code == "past", "\(answer.body)")
                    #expect((answer.json["hint"] as? String)?.contains(Content.momentRule) == true)
                }
            }
            #expect(try await server.outbox.status().waitingCount == 0)
            // One try, and the empty members that a typed client writes.
            let nothing: [String: Any] = [
                "user": "alice", "content": ["alert": alert], "expiration": 0, "device": NSNull(), "all": false,
                "key": NSNull(), "priority": NSNull(), "unverified": NSNull(),
            ]
            let keys = [
                ("k", 202, 1), ("\"k\"", 202, 0), ("other", 400, nil), ("", 400, nil), ("\"\"", 400, nil),
                ("\"", 400, nil),
                ("\"k\";x=1", 400, nil), ("\"k", 400, nil), (#""a\"b""#, 400, nil), ("\"a\"b\"", 400, nil),
            ]
            for (header, status, count) in keys {
                let key: Any = header == "other" ? "k" : NSNull()
                let answer = try server.send(
                    "POST", "/v1/messages", RunningServer.json(nothing.merging(["key": key]) { $1 }),
                    header: header.isEmpty ? "Idempotency-Key;" : "Idempotency-Key: \(header)")
                #expect(answer.status == status && answer.json["enqueued"] as? Int == count, "\(answer.body)")
            }
            let batch = try server.send(
                "POST", "/v1/messages", RunningServer.json(nothing), type: "application/x-ndjson",
                header: "Idempotency-Key: k")
            #expect(batch.status == 400 && batch.code == "malformed")
            #expect(try await server.outbox.status().waitingCount == 1)
        }
    }

    @Test("a test goes only to a user's devices or to one device") func tests() async throws {
        try await RunningServer.with { server in
            #expect(try await server.update(server.phone("phone"), as: "alice").isRegistered)
            let name = try #require(try await server.outbox.devices(of: "alice").first?.name.description)
            for target in [["user": "alice"], ["device": name]] {
                let answer = try server.post("/v1/test", target)
                #expect(answer.status == 202 && answer.json["enqueued"] as? Int == 1, "\(answer.body)")
            }
            #expect(try server.post("/v1/test", ["user": "bob"]).status == 404)
            for wrong in [[:], ["all": true], ["user": "alice", "device": name], ["user": 7]] as [[String: Any]] {
                #expect(try server.post("/v1/test", wrong).status == 400)
            }
            #expect(try await server.outbox.status().waitingCount == 2)
        }
    }

    @Test("a content member that looks misspelled causes a warning, and the message is still sent") func misspelled()
        async throws
    {
        try await RunningServer.with { server in
            #expect(try await server.update(server.phone("phone"), as: "alice").isRegistered)
            let name = try #require(try await server.outbox.devices(of: "alice").first?.name.description)
            let content: [String: Any] = ["alert": ["titel": "t", "body": "b"], "bagde": 1]
            for (path, target) in [("/v1/messages", ["user": "alice"]), ("/v1/seal", ["device": name])] {
                let answer = try server.post(path, ["content": content].merging(target) { $1 })
                let warnings = answer.json["warnings"] as? [String] ?? []
                #expect(warnings.count == 2 && warnings.last?.contains("\"alert.titel\"") == true, "\(answer.body)")
                let good = try server.post(path, ["content": Self.content].merging(target) { $1 })
                #expect(good.status == answer.status && good.json["warnings"] == nil)
            }
        }
    }

    @Test("a query is parsed as form data; unknown or malformed parameters are refused") func queries()
        async throws
    {
        try await RunningServer.with { server in
            #expect(try await server.update(server.phone("phone"), as: "alice smith").isRegistered)
            let queries: [(String, Int)] = [
                ("user=alice%20smith", 200), ("user=alice+smith", 200), ("us%65r=alice+smith", 200), ("", 200),
                ("usr=alice+smith", 400), ("user=100%zz", 400), ("user=%ff", 400), ("user=a&user=b", 400),
                ("user", 400), ("days=3", 400), ("user=alice+smith&limit=0", 400), ("user=alice+smith&after=%01", 400),
            ]
            for (query, status) in queries {
                let answer = try server.send("GET", "/v1/devices?\(query)")
                #expect(answer.status == status, "\(query): \(answer.body)")
                #expect(status == 400 || (answer.json["devices"] as? [Any])?.count == 1, "\(query)")
            }
            #expect(try server.send("GET", "/v1/outbox?days=3").status == 400)
        }
    }

    @Test("a batch has one line in and out per message, in order; an invalid line affects only itself")
    func batch() async throws {
        try await RunningServer.with { server in
            #expect(try await server.update(server.phone("phone"), as: "alice").isRegistered)
            let good = RunningServer.json(["user": "alice", "content": Self.content])
            let other = RunningServer.json(["user": "bob", "content": Self.content])
            let lines = ["\u{feff}" + good, "{", " \t\r", "", other, good, ""]
            let answer = try server.batch("/v1/messages", lines)
            #expect(answer.status == 200 && answer.head.contains("application/x-ndjson"))
            #expect(answer.lines.map { $0["status"] as? Int } == [202, 400, 404, 202])
            #expect(answer.lines.map { $0["line"] as? Int } == [1, 2, 5, 6])
            #expect(try await server.outbox.status().waitingCount == 2)
            let sealing = (0..<1_000).map { index in
                RunningServer.json([
                    "recipient": DevicePrivateKey().recipient.description, "unverified": true,
                    "content": ["alert": ["title": "\(index)"], "collapse-id": "\(index)"],
                ])
            }
            let sealed = try server.batch("/v1/seal", sealing)
            #expect(sealed.lines.count == 1_000 && sealed.lines.allSatisfy { $0["status"] as? Int == 200 })
            let recipients = try sealing.map { line in
                (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["recipient"] as? String
            }
            #expect(sealed.lines.map { $0["recipient"] as? String } == recipients)
            #expect(sealed.lines.allSatisfy { ($0["sender"] as? String)?.hasPrefix("pushsender1") == true })
            let many = try server.batch("/v1/seal", sealing + ["{}"])
            #expect(many.status == 413 && many.code == "too-many-lines")
            #expect(sealed.lines.map { $0["line"] as? Int } == Array(1...1_000))
            // Blank lines count, so that a body of blank lines isn't parsed without limit.
            #expect(try server.batch("/v1/seal", Array(repeating: "", count: 1_001)).body.isEmpty)
            #expect(try server.batch("/v1/seal", Array(repeating: " ", count: 1_001)).code == "too-many-lines")
        }
    }

    @Test("text that only looks like a known key is refused") func lookalike() async throws {
        try await RunningServer.with { server in
            var key = ""
            repeat { key = DevicePrivateKey().recipient.description.uppercased() } while !key.contains("K")
            // The Kelvin sign is another scalar, but the same character to Swift.
            let lines = [key, key, key.replacing("K", with: "\u{212A}")].map {
                RunningServer.json(["recipient": $0, "unverified": true, "content": Self.content])
            }
            let answer = try server.batch("/v1/seal", lines)
            #expect(answer.lines.map { $0["status"] as? Int } == [200, 200, 400], "\(answer.body)")
            #expect(answer.lines.compactMap { $0["recipient"] as? String } == [key.lowercased(), key.lowercased()])
        }
    }

    @Test("a service seals for a device, for a record from another database, and for a bare key if explicitly allowed")
    func seals() async throws {
        try await RunningServer.with { server in
            let update = try await server.update(server.phone("phone"), as: "alice")
            let enrolled = try #require(try await server.outbox.devices(of: "alice").first?.enrolled)
            let recipient = try #require(enrolled.proven.first).description
            let targets: [[String: Any]] = [
                ["device": update.device ?? ""], ["recipient": recipient, "unverified": true],
                [
                    "record": enrolled.record.description, "enrollment": enrolled.enrollment.description,
                    "proven": [recipient],
                ],
            ]
            let long = ["alert": ["body": String(repeating: "x", count: 2_780)]]
            for target in targets {
                let answer = try server.post("/v1/seal", target.merging(["content": Self.content]) { $1 })
                #expect(answer.status == 200 && answer.json["recipient"] as? String == recipient, "\(answer.body)")
                let headers = answer.json["headers"] as? [String: String]
                #expect(
                    headers?["apns-topic"] == RunningServer.topic.description && headers?["apns-push-type"] == "alert")
                let withdrawal = try server.post("/v1/seal", target.merging(["content": Self.withdrawal]) { $1 })
                let background = withdrawal.json["headers"] as? [String: String]
                #expect(background?["apns-push-type"] == "background" && background?["apns-priority"] == "5")
                let payload = try #require(answer.json["payload"] as? String)
                #expect(payload.utf8.count == answer.json["payloadBytes"] as? Int && !payload.contains("Lunch"))
                // A message that just fits no longer does if some bytes are reserved.
                let full = try server.post("/v1/seal", target.merging(["content": long]) { $1 })
                #expect(full.status == 200 && full.json["payloadBytes"] as? Int ?? 0 > 4_000)
                let less = try server.post("/v1/seal", target.merging(["content": long, "reserve": 200]) { $1 })
                #expect(less.status == 422 && less.code == "too-large")
            }
            let partial: [[String: Any]] = [["recipient": recipient], ["record": enrolled.record.description], [:]]
            for target in partial {
                let answer = try server.post("/v1/seal", target.merging(["content": Self.content]) { $1 })
                #expect([400, 409].contains(answer.status), "\(answer.body)")
            }
            #expect(try await server.outbox.status().waitingCount == 0)
        }
    }

    @Test("a back end lists devices page by page, removes one, and reads the outbox and the receipts") func lists()
        async throws
    {
        try await RunningServer.with { server in
            for index in 0..<5 {
                let phone = try server.phone("phone \(index)")
                #expect(try await server.update(phone, as: "user \(index % 2)", token: UInt8(index)).isRegistered)
            }
            var (names, after) = ([String](), "")
            repeat {
                let page = try server.send("GET", "/v1/devices?limit=2\(after)")
                names += (page.json["devices"] as? [[String: Any]] ?? []).compactMap { $0["device"] as? String }
                after = (page.json["next"] as? String).map { "&after=\($0)" } ?? ""
            } while !after.isEmpty
            #expect(names.count == 5 && names == names.sorted())
            #expect((try server.send("GET", "/v1/devices?user=user%200").json["devices"] as? [Any])?.count == 3)
            #expect(try server.send("GET", "/v1/devices?limit=0").status == 400)
            #expect(try server.send("DELETE", "/v1/devices/\(names[0])").json["discarded"] as? Int == 0)
            #expect(try server.send("DELETE", "/v1/devices/\(names[0])").status == 404)
            #expect(try server.send("GET", "/v1/outbox").json["devices"] as? Int == 4)
            #expect(try server.send("GET", "/v1/receipts?days=3").json["devices"] as? Int == 0)
            #expect(try server.send("GET", "/v1/receipts?days=31").status == 400)
        }
    }

    @Test("Docs/openapi.yaml lists exactly the paths and methods that exist") func described() async throws {
        let text = try Checkout.text(Checkout.folder.appending(path: "Docs/openapi.yaml"))
        let paths = try #require(text.split(separator: "\ncomponents:").first).split(separator: "\n  /").dropFirst()
        let sources = try ["PushServer.swift", "Router+Listeners.swift"].map { name in
            try Checkout.text(Checkout.folder.appending(path: "Sources/Server/PushHTTP/\(name)"))
        }
        let routes = sources.joined()
            .matches(of: /(get|put|post|delete)\("((\/v1)?\/[a-z]+[^"]*)"/)
            .map { ($0.2 == "/healthz" || $0.2 == "/readyz" || $0.3 != nil ? "" : "/v1") + $0.2 }
        #expect(
            Set(routes.map { $0.replacing(/:[a-z]+/, with: "x") })
                == Set(paths.map { "/" + $0.prefix { $0 != ":" }.replacing(/\{[a-z]+\}/, with: "x") }))
        let all: Set<String> = ["GET", "PUT", "POST", "DELETE", "PATCH"]
        try await RunningServer.with { server in
            let login = try server.login("alice")
            for part in paths {
                let path = "/" + part.prefix { $0 != ":" }.replacing(/\{[a-z]+\}/, with: "x")
                let described = Set(part.matches(of: /\n    (get|put|post|delete|patch):/).map { $0.1.uppercased() })
                for method in all {
                    let isPhones = path.hasPrefix("/v1/phones") || path == "/v1/sender-set"
                    // The one path that both listeners have.
                    let isReceipt = path == "/v1/receipts" && method == "POST"
                    let door = isReceipt || path == "/v1/leavings" ? server.phonesPort : nil
                    let token = isPhones ? login : RunningServer.token
                    let answer = try server.send(method, path, token: token, at: door)
                    let isThere = answer.code != "wrong-method"
                    #expect(isThere == described.contains(method), "\(method) \(path): \(answer.status)")
                }
            }
        }
    }

    @Test("Docs/Codes.md lists exactly the codes that exist, and a response's type is the code's anchor there")
    func codes() async throws {
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/Codes.md"))
        // The other errors are those that a device finds in a challenge.
        let challenge: [ChallengeError] = [.malformed, .foreignEnrollment, .notInRecord, .late, .wrongAnswer]
        var codes = Set((RecordError.allCases.map(\.rawValue) + ReceiptError.allCases.map(\.rawValue)))
        codes.formUnion(challenge.map(\.rawValue))
        // A phone sends no stored state.
        codes.remove(RecordError.malformedState.rawValue)
        for folder in ["Sources/Server/PushHTTP", "Sources/Server/PushOutbox/Forms"] {
            for file in try Checkout.files(in: folder, ending: ".swift") {
                let found = try Checkout.text(file).matches(of: /\.[a-zA-Z]+,\s*"([a-z-]+)"[,)]/)
                codes.formUnion(found.map { String($0.1) })
            }
        }
        #expect(codes.count > 40)
        #expect(Set(page.matches(of: /<a id="([a-z-]+)">/).map { String($0.1) }) == codes)
        try await RunningServer.with { server in
            let answer = try server.send("GET", "/nowhere")
            #expect(answer.json["type"] as? String == "/Docs/Codes.md#no-such-path", "\(answer.body)")
        }
    }
}
