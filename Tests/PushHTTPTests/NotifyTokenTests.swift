import Foundation
import Logging
import PushCore
import PushOutbox
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("Tokens for notifications", .blocking) struct NotifyTokenTests {
    private static let cron = String(repeating: "c", count: 32)
    private static let grafana = String(repeating: "g", count: 64)
    private static let content: [String: [String: String]] = ["alert": ["body": "x"]]

    /// Returns a line of the file, with the hash that `sha256sum` prints.
    private static func line(_ token: String, _ name: String, _ user: String) -> String {
        "\(Hex.encode(Array(token.utf8).withUnsafeBytes { SHA256.hash($0) })) \(name) \(user)\n"
    }

    private static let file = line(cron, "backup", "anna") + line(grafana, "grafana", "bob smith")

    private static func notify(
        _ server: RunningServer, _ user: String, token: String?, key: String? = nil
    ) throws -> RunningServer.Answer {
        try server.send(
            "POST", "/v1/notify/\(user)", "x", type: "text/plain", token: token,
            header: key.map { "Idempotency-Key: \($0)" })
    }

    @Test("the hash in the file is the one that sha256sum prints") func hash() throws {
        let output = try Program(at: "/usr/bin/sha256sum").run([], input: Self.cron).output
        let text = "\(output.prefix(64)) backup anna"
        let tokens = try NotifyTokens(parsing: Array(text.utf8))
        #expect(tokens.token(in: "Bearer \(Self.cron)")?.user == "anna")
        #expect(Self.line(Self.cron, "backup", "anna") == text + "\n")
    }

    @Test("each token notifies its own user and does nothing else; the back end's token notifies everyone")
    func matrix() async throws {
        try await RunningServer.with(notifyTokens: Self.file) { server in
            for user: UserName in ["anna", "bob smith"] { _ = try await NotifiedPhone(of: user, at: server) }
            let login = try server.login("anna")
            let wrong = [
                nil, "", login, Self.cron + "c", String(Self.cron.dropLast()), String(repeating: "d", count: 32),
                // The hash isn't the token.
                String(Self.file.prefix(64)),
            ]
            let users = ["anna", "bob%20smith", "nobody"]
            let callers: [(token: String?, statuses: [Int])] =
                [
                    (RunningServer.token, [202, 202, 404]), (Self.cron, [202, 403, 403]),
                    (Self.grafana, [403, 202, 403]),
                ]
                + wrong.map { ($0, [401, 401, 401]) }
            for (token, statuses) in callers {
                let answers = try users.map { try Self.notify(server, $0, token: token) }
                #expect(answers.map(\.status) == statuses, "\(token ?? "none")")
                for answer in answers where answer.status > 400 {
                    let code = [401: "unauthorized", 403: "other-user", 404: "unknown-user"][answer.status]
                    #expect(answer.code == code)
                    #expect(answer.status != 401 || answer.head.lowercased().contains("www-authenticate: bearer"))
                    for secret in [Self.cron, Self.grafana, RunningServer.token] {
                        #expect(!answer.body.contains(secret) && !answer.head.contains(secret))
                    }
                }
            }
            // A token is for no other path, at either listener.
            let message = RunningServer.json(["user": "anna", "content": Self.content])
            let paths = [
                ("POST", "/v1/messages", message), ("POST", "/v1/seal", message), ("POST", "/v1/test", message),
                ("POST", "/v1/logins", message), ("DELETE", "/v1/logins/anna", ""), ("DELETE", "/v1/users/anna", ""),
                ("GET", "/v1/messages/\(MessageID.random())", ""), ("GET", "/v1/devices", ""),
                ("DELETE", "/v1/devices/x", ""), ("GET", "/v1/outbox", ""), ("GET", "/v1/receipts", ""),
                ("GET", "/v1/sender-set", ""), ("DELETE", "/v1/phones/\(EnrollmentPrivateKey().enrollment)", ""),
            ]
            for (method, path, body) in paths {
                let answer = try server.send(method, path, body, token: Self.cron)
                #expect(answer.status == 401, "\(method) \(path): \(answer.body)")
            }
            let phones = try server.send(
                "POST", "/v1/notify/anna", "x", type: "text/plain", token: Self.cron, at: server.phonesPort)
            #expect(phones.status == 404)
            #expect(try await server.outbox.status().waitingCount == 4)
        }
    }

    @Test("tokens are replaced without a restart, and a removed one is refused from then on") func revoked()
        async throws
    {
        try await RunningServer.with(notifyTokens: Self.file) { server in
            _ = try await NotifiedPhone(of: "anna", at: server)
            #expect(try Self.notify(server, "anna", token: Self.cron).status == 202)
            for text in [Self.line(Self.grafana, "grafana", "anna"), "# none\n", ""] {
                server.server?.use(notifyTokens: try NotifyTokens(parsing: Array(text.utf8)))
                #expect(try Self.notify(server, "anna", token: Self.cron).status == 401)
                let status = text.contains("grafana") ? 202 : 401
                #expect(try Self.notify(server, "anna", token: Self.grafana).status == status)
            }
            server.server?.use(notifyTokens: nil)
            #expect(try Self.notify(server, "anna", token: Self.cron).status == 401)
            #expect(try Self.notify(server, "anna", token: RunningServer.token).status == 202)
        }
    }

    @Test("each token has a rate limit of its own, also after a reload; the back end has none") func rates()
        async throws
    {
        let time = Locked(ContinuousClock.now)
        var limits = ServerLimits.unhurried
        limits.notifyBurst = 2
        limits.clock = { time.withLock { $0 } }
        let file = Self.file + Self.line(String(repeating: "z", count: 32), "other", "anna")
        try await RunningServer.with(limits: limits, notifyTokens: file) { server in
            _ = try await NotifiedPhone(of: "anna", at: server)
            let statuses = { (count: Int, token: String) in
                try (0..<count).map { _ in try Self.notify(server, "anna", token: token).status }
            }
            // A request for another user isn't one for the token's own.
            #expect(try Self.notify(server, "bob", token: Self.cron).status == 403)
            #expect(try statuses(3, Self.cron) == [202, 202, 429])
            let refused = try Self.notify(server, "anna", token: Self.cron)
            #expect(refused.code == "too-many-requests" && refused.head.lowercased().contains("\r\nretry-after: 10"))
            #expect((refused.json["detail"] as? String)?.contains("backup") == true, "\(refused.body)")
            #expect(try statuses(1, String(repeating: "z", count: 32)) == [202])
            #expect(try statuses(3, RunningServer.token) == [202, 202, 202])
            server.server?.use(notifyTokens: try NotifyTokens(parsing: Array(file.utf8)))
            #expect(try statuses(1, Self.cron) == [429])
            time.withLock { $0 += .seconds(10) }
            #expect(try statuses(2, Self.cron) == [202, 429])
        }
    }

    @Test("a token's idempotency keys are its own, so that its holder can't use up another's") func keys() async throws
    {
        let other = String(repeating: "z", count: 32)
        let file = Self.file + Self.line(other, "other", "anna")
        try await RunningServer.with(notifyTokens: file) { server in
            let phone = try await NotifiedPhone(of: "anna", at: server)
            for token in [Self.cron, other, RunningServer.token] {
                let answers = try (1...2).map { _ in try Self.notify(server, "anna", token: token, key: "k") }
                #expect(answers.map { $0.json["enqueued"] as? Int } == [1, 0], "\(answers.map(\.body))")
            }
            #expect(try await phone.newPushes().count == 3)
        }
    }

    @Test("at a socket without a token, a caller without one is the back end; one with a revoked token isn't")
    func socket() async throws {
        let (folder, sender) = (try TemporaryFolder(), SenderPrivateKey())
        let path = folder.appending("back-end.sock").path
        let server = try PushServer(
            at: .socket(path), outbox: Outbox(at: folder.appending("outbox.db").path),
            state: ServerState(
                keys: RunningServer.keys(of: sender), senderSet: nil, tokens: nil,
                notifyTokens: NotifyTokens(parsing: Array(Self.file.utf8))),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await RunningServer.serving(stop: server.stop) { listening in
            try await server.run { _, _ in listening(path) }
        } during: { (_: String) async throws in
            let status = { (user: String, headers: [String]) async throws -> Int? in
                let client = try RawClient(socket: path)
                let lines =
                    ["POST /v1/notify/\(user) HTTP/1.1", "host: localhost", "content-type: text/plain"] + headers
                client.write((lines + ["content-length: 1"]).joined(separator: "\r\n") + "\r\n\r\nx")
                return await client.status()
            }
            let bearer = "authorization: Bearer "
            // No device is registered, so an admitted request gets 404.
            for (user, headers, expected) in [
                ("anna", [], 404), ("anna", [bearer + Self.cron], 404), ("bob", [bearer + Self.cron], 403),
                ("anna", [bearer + String(repeating: "d", count: 32)], 401), ("anna", ["authorization:"], 401),
                ("anna", [bearer + Self.cron, bearer + Self.cron], 401),
                ("anna", [bearer + Self.cron, "x-forwarded-for: 192.0.2.1"], 403),
            ] as [(String, [String], Int)] {
                #expect(try await status(user, headers) == expected, "\(user) \(headers)")
            }
            server.use(notifyTokens: nil)
            #expect(try await status("anna", [bearer + Self.cron]) == 404)
        }
    }

    @Test("a file of tokens has a hash, a name, and a user on each line; any other line is refused, by its number")
    func parsing() throws {
        let parse = { (text: String) throws(TokenError) in try NotifyTokens(parsing: Array(text.utf8)) }
        let upper = Self.line(Self.cron, "backup", "\tanna  maria ").uppercased()
        let spaced = try parse(
            "\u{feff}# tokens\r\n\r\n  \(upper.dropLast())\t\r\n\(Self.line(Self.grafana, "grafana", "é"))")
        #expect(spaced.token(in: "bearer  \(Self.cron)")?.user == "ANNA  MARIA")
        #expect(spaced.token(in: "Bearer \(Self.grafana)")?.user == "é")
        for header in [nil, "", Self.cron, "Basic \(Self.cron)", "Bearer \(Self.cron) x", "Bearer"] {
            #expect(spaced.token(in: header) == nil)
        }
        let (first, long) = (Self.line(Self.cron, "backup", "anna"), String(repeating: "n", count: 65))
        for line in [
            Self.cron, String(first.prefix(64)), String(first.prefix(71)), "x" + first.dropFirst(), "0" + first,
            String(first.dropFirst(2)), Self.line(Self.cron, long, "anna"), Self.line(Self.cron, "bäckup", "anna"),
            Self.line(Self.cron, "backup", "."), Self.line(Self.cron, "backup", "a\u{7}"),
            Self.line(Self.cron, "backup", String(repeating: "a", count: 129)),
        ] {
            #expect(throws: TokenError.line(3), "\(line)") { try parse("#\n\n\(line)\n") }
        }
        #expect(throws: TokenError.line(1)) { try NotifyTokens(parsing: Array(first.utf8.dropLast()) + [0xff]) }
        let second = Self.line(Self.grafana, "grafana", "anna")
        for repeated in [Self.line(Self.cron, "other", "bob"), Self.line(Self.grafana, "backup", "bob")] {
            #expect(throws: TokenError.repeated(line: 2)) { try parse(first + repeated) }
        }
        #expect(try parse(first + second).token(in: "Bearer \(Self.grafana)")?.name == "grafana")
        let many = (0..<NotifyTokens.maximumCount).map { Self.line("\(Self.cron)\($0)", "n\($0)", "anna") }
        #expect(try parse(many.joined()).token(in: "Bearer \(Self.cron)999")?.name == "n999")
        #expect(throws: TokenError.tooMany) { try parse(many.joined() + first) }
        // A text too short to be safe is no token, even if the file has its hash.
        let short = String(repeating: "s", count: 31)
        #expect(try parse(Self.line(short, "short", "anna")).token(in: "Bearer \(short)") == nil)
        // The longest file fits.
        let longest = Self.line(Self.cron, String(repeating: "n", count: 64), String(repeating: "a", count: 128))
        #expect(longest.utf8.count * NotifyTokens.maximumCount <= NotifyTokens.maximumByteCount)
        for error in [TokenError.line(3), .repeated(line: 3), .tooMany] { #expect(!"\(error)".contains("anna")) }
    }
}
