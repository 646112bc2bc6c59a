import Foundation
import HTTPTypes
import PushCore
import PushOutbox
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("Webhooks of monitoring programs", .blocking) struct WebhookTests {
    private static let alerts = "/v1/notify/anna/alertmanager"
    private static let apprise = "/v1/notify/anna/apprise"

    /// Returns a body as the program sends it: Alertmanager 0.25 and Apprise 2.3, recorded; Grafana 12, from its documentation.
    private static func body(_ name: String) throws -> String {
        try Checkout.text(Checkout.folder.appending(path: "Tests/Data/Webhooks/\(name).json"))
    }

    /// Returns the content's visible parts.
    private static func shown(_ push: (content: Content, request: PushRequest)) -> [String?] {
        let content = push.content
        let isQuiet = content.interruptionLevel == .passive && content.sound == nil
        let isLoud = content.interruptionLevel == nil && content.sound == .named("default")
        return [content.alert.title, content.alert.body, isQuiet ? "quiet" : isLoud ? "loud" : nil]
    }

    @Test("a group of alerts shows once per firing, is replaced as its alerts change, and ends quietly") func group()
        async throws
    {
        try await RunningServer.with { server in
            let phone = try await NotifiedPhone(of: "anna", at: server)
            let (firing, partly) = (try Self.body("alertmanager-firing"), try Self.body("alertmanager-partly-resolved"))
            let resolved = try Self.body("alertmanager-resolved")
            let name = "A disk is almost full"
            let both: [String?] = ["\(name) (2)", "db1 has 3% left\ndb2 has 3% left", "loud"]
            let steps: [(body: String, shown: [String?]?)] = [
                (firing, both), (firing, nil),
                // A value that changes while the alert fires isn't another firing.
                (firing.replacing("3%", with: "2%"), nil),
                (partly, [name, "db2 has 3% left", "loud"]), (partly, nil),
                (resolved, ["Resolved: \(name)", "db2 has 3% left", "quiet"]), (resolved, nil),
                (firing.replacing("08:09:15", with: "09:00:00"), both), (firing, nil),
            ]
            var (places, ids): (Set<[String?]>, [String: String]) = ([], [:])
            for (number, (body, shown)) in steps.enumerated() {
                let answer = try server.send("POST", Self.alerts, body)
                #expect(answer.status == 202, "\(number): \(answer.body)")
                #expect(answer.json["enqueued"] as? Int == (shown == nil ? 0 : 1), "\(number): \(answer.body)")
                #expect(answer.json["alreadyEnqueued"] as? Int == (shown == nil ? 1 : 0), "\(number)")
                let id = try #require(answer.json["id"] as? String)
                #expect(ids.updateValue(id, forKey: body) ?? id == id)
                let pushes = try await phone.newPushes()
                #expect(pushes.map(Self.shown) == (shown.map { [$0] } ?? []), "\(number)")
                for (content, request) in pushes {
                    // One that is quiet must not arrive after a later one.
                    #expect(request.priority == .immediate && content.withdrawal == nil)
                    places.insert([content.threadID, content.collapseID, request.collapseID])
                }
            }
            let place = try #require(places.first)
            #expect(places.count == 1 && place[0] == place[1] && place[0]?.isEmpty == false)
            let other = try server.send("POST", Self.alerts, firing.replacing("{}:{", with: "{}/{}:{"))
            #expect(other.json["enqueued"] as? Int == 1)
            #expect(try await phone.newPushes().first?.content.threadID != place[0])
        }
    }

    @Test("a webhook repeated with another value is the same message", arguments: RunningServer.Store.allCases)
    func repeated(over store: RunningServer.Store) async throws {
        try await RunningServer.asProgram(over: store) { server in
            _ = try await NotifiedPhone(of: "anna", at: server)
            let body = try Self.body("alertmanager-firing")
            let answers = try [body, body.replacing("3%", with: "2%")].map { try server.send("POST", Self.alerts, $0) }
            #expect(answers.map { $0.json["enqueued"] as? Int } == [1, 0], "\(answers.map(\.body))")
            #expect(Set(answers.map { $0.json["id"] as? String }).count == 1)
            #expect(try await server.outbox.status().waitingCount == 1)
        }
    }

    @Test("each user and each token has its own alerts") func owners() async throws {
        let token = String(repeating: "c", count: 32)
        let hash = Hex.encode(Array(token.utf8).withUnsafeBytes { SHA256.hash($0) })
        try await RunningServer.with(notifyTokens: "\(hash) alerts anna\n") { server in
            for user: UserName in ["anna", "bob"] { _ = try await NotifiedPhone(of: user, at: server) }
            let body = try Self.body("alertmanager-firing")
            let send = { (user: String, token: String) in
                try server.send("POST", "/v1/notify/\(user)/alertmanager", body, token: token)
            }
            for (user, token) in [("anna", token), ("anna", RunningServer.token), ("bob", RunningServer.token)] {
                #expect(try send(user, token).json["enqueued"] as? Int == 1)
                #expect(try send(user, token).json["enqueued"] as? Int == 0)
            }
            for path in ["alertmanager", "apprise"] {
                let answer = try server.send("POST", "/v1/notify/bob/\(path)", body, token: token)
                #expect(answer.status == 403 && answer.code == "other-user")
                #expect(try server.send("POST", "/v1/notify/anna/\(path)", body, token: nil).status == 401)
            }
        }
    }

    @Test("Grafana's and Apprise's bodies are shown as their authors meant them") func others() async throws {
        try await RunningServer.with { server in
            let phone = try await NotifiedPhone(of: "anna", at: server)
            let grafana = try Self.body("grafana")
            let long = String(repeating: "x", count: 300)
            let cases: [(path: String, body: String, shown: [String?])] = [
                (
                    Self.alerts, grafana,
                    ["Alert (2)", "Memory is high in us-1\ngrafana_folder: Hosts, zone: eu-1", "loud"]
                ),
                (
                    Self.alerts,
                    grafana.replacing(#""commonAnnotations": {}"#, with: #""commonAnnotations": {"summary": " \n"}"#)
                        .replacing(#""commonLabels": {"#, with: #""commonLabels": {"alertname": "Hosts","#)
                        .replacing(#""truncatedAlerts": 0"#, with: #""truncatedAlerts": 7"#)
                        .replacing("09:51", with: "09:52"),
                    ["Hosts (9)", "Memory is high in us-1\ngrafana_folder: Hosts, zone: eu-1", "loud"]
                ),
                // Older versions send no fingerprint and no truncatedAlerts.
                (
                    Self.alerts,
                    #"{"groupKey":"k","status":"firing","alerts":[{"labels":{"alertname":"A"},"startsAt":"s"}]}"#,
                    ["Alert", nil, "loud"]
                ),
                (
                    Self.alerts,
                    #"{"groupKey":"k","status":"firing","alerts":[{"labels":{"alertname":"B"},"startsAt":"s"}]}"#,
                    ["Alert", nil, "loud"]
                ),
                // The number left out may be anything.
                (
                    Self.alerts,
                    #"{"groupKey":"k","status":"firing","truncatedAlerts":9223372036854775807,"alerts":[{"labels":{},"startsAt":"s"}]}"#,
                    ["Alert", nil, "loud"]
                ),
                (Self.apprise, try Self.body("apprise"), ["Disk", "Backup failed äö", "loud"]),
                (Self.apprise, #"{"version":"1.0","title":"","message":"x","type":"info"}"#, [nil, "x", "loud"]),
                (
                    Self.apprise, #"{"title":"\#(long)","message":"x"}"#,
                    ["\(long.prefix(200))…", "x", "loud"]
                ),
            ]
            for (path, body, shown) in cases {
                let answer = try server.send("POST", path, body)
                #expect(answer.status == 202 && answer.json["enqueued"] as? Int == 1, "\(answer.body)")
                #expect(try await phone.newPushes().map(Self.shown) == [shown], "\(body)")
            }
        }
    }

    @Test("each program that Docs/FromWhatYouRun.md names sends a notification, as it says there") func page()
        async throws
    {
        let page = try Checkout.text(Checkout.folder.appending(path: "Docs/FromWhatYouRun.md"))
        let token = String(repeating: "c", count: 64)
        let hash = Hex.encode(Array(token.utf8).withUnsafeBytes { SHA256.hash($0) })
        try await RunningServer.with(notifyTokens: "\(hash) all anna\n") { server in
            let phone = try await NotifiedPhone(of: "anna", at: server)
            let base = "http://127.0.0.1:\(server.port)"
            let header = try server.folder.write("Authorization: Bearer \(token)\n", to: "notify.header")
            // The others are run by DocumentTests.
            let commands = page.split(separator: "\n").filter { $0.contains("curl ") && !$0.contains("--unix-socket") }
            #expect(commands.count == 2)
            for command in commands {
                let words = (command.components(separatedBy: " || ").last ?? "")
                    .replacing("http://127.0.0.1:8482", with: base).replacing("https://push.example.com", with: base)
                    .replacing("/etc/notify.header", with: header)
                let result = try Program(at: "/bin/bash").run(
                    ["-c", words], environment: ["TOKEN": token, "GITHUB_REPOSITORY": "anna/app"])
                #expect(result.status == 0 && result.output.contains(#""enqueued":1"#), "\(words): \(result.errors)")
            }
            #expect(try await phone.newPushes().map(\.content.alert.body) == ["Backup failed", "anna/app failed"])

            let urls = page.matches(of: /127\.0\.0\.1:8482(\/[a-z0-9\/]+)/).map { String($0.1) }
            #expect(urls.count == 5 && Set(urls) == [Self.alerts, Self.apprise, "/v1/notify/anna"])
            let json = try #require(page.firstMatch(of: /additional headers `(\{.*\})`/)).1.replacing(
                "TOKEN", with: token)
            let fields = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: String])
            let headers = fields.flatMap { ["-H", "\($0.key): \($0.value)"] }
            let (form, text) = ("Content-Type: application/x-www-form-urlencoded", "[db1] [🔴 Down] \"timeout\"\n= 7 s")
            let sent: [(program: String, path: String, arguments: [String], body: String, shown: [String?])] = [
                // Its HTTP library calls a text that, too.
                ("Uptime Kuma", "/v1/notify/anna", ["-H", form], text, [nil, text, "loud"]),
                (
                    "Home Assistant", "/v1/notify/anna", ["-H", "Content-Type: application/json"],
                    #"{"message": "The door is open.", "title": "Home Assistant"}"#,
                    ["Home Assistant", "The door is open.", "loud"]
                ),
                (
                    "Apprise", Self.apprise, ["-H", "Content-Type: application/json"], try Self.body("apprise"),
                    ["Disk", "Backup failed äö", "loud"]
                ),
                (
                    "Grafana", Self.alerts, ["-H", "Content-Type: application/json"], try Self.body("grafana"),
                    ["Alert (2)", "Memory is high in us-1\ngrafana_folder: Hosts, zone: eu-1", "loud"]
                ),
                (
                    "Alertmanager", Self.alerts, ["-H", "Content-Type: application/json"],
                    try Self.body("alertmanager-firing"),
                    ["A disk is almost full (2)", "db1 has 3% left\ndb2 has 3% left", "loud"]
                ),
            ]
            for (program, path, arguments, body, shown) in sent {
                #expect(page.contains(" \(program)\n"))
                let answer = try server.curl(
                    path, headers + arguments + ["--data-binary", "@-"], input: body, token: nil)
                #expect(answer.status == 202, "\(program): \(answer.body)")
                #expect(try await phone.newPushes().map(Self.shown) == [shown], "\(program)")
            }
        }
    }

    @Test("a body that doesn't fit into a push is cut, never refused; one that is too large, or another's, is refused")
    func sizes() async throws {
        try await RunningServer.with { server in
            let phone = try await NotifiedPhone(of: "anna", at: server)
            let alert = { (number: Int, text: String) in
                #"{"labels":{"n":"\#(number)"},"annotations":{"summary":"\#(text)"},"startsAt":"s","fingerprint":"\#(number)"}"#
            }
            let group = { (alerts: [String]) in
                #"{"groupKey":"k","status":"firing","alerts":[\#(alerts.joined(separator: ","))]}"#
            }
            let words = String(repeating: "漢字 \\\" ", count: 30)
            let bodies = [
                (Self.alerts, group((1...500).map { alert($0, "\($0) \(words)") })),
                (Self.alerts, group([alert(1, String(repeating: "x", count: 200_000))])),
                (Self.apprise, #"{"title":"\#(words)\#(words)","message":"\#(String(repeating: words, count: 200))"}"#),
            ]
            for (path, body) in bodies {
                let answer = try server.send("POST", path, body)
                #expect(answer.status == 202 && answer.json["enqueued"] as? Int == 1, "\(answer.body)")
                let push = try #require(try await phone.newPushes().first)
                #expect(push.request.body.count <= 4_096 && push.content.alert.body?.hasSuffix("…") == true)
            }
            let spaces = String(repeating: " ", count: ServerLimits.webhookByteCount)
            for path in [Self.alerts, Self.apprise] {
                let large = try server.send("POST", path, "{\(spaces)}")
                #expect(large.status == 413 && large.code == "body-too-large")
            }
            let good = try Self.body("alertmanager-firing")
            let (text, json) = ("text/plain", "application/json")
            let wrong: [(path: String, type: String, body: String, code: String)] = [
                (Self.alerts, text, good, "wrong-media-type"), (Self.apprise, text, "x", "wrong-media-type"),
                (Self.apprise, json, "{}", "malformed"), (Self.apprise, json, #"{"message":7}"#, "malformed"),
                (Self.apprise, json, #"{"message":""}"#, "invalid-content"),
                (Self.apprise, json, #"{"title":["x"],"message":"x"}"#, "malformed"),
                (Self.apprise, json, good, "malformed"), (Self.alerts, json, try Self.body("apprise"), "malformed"),
            ]
            let broken = [
                "", "[]", "null", "{", #"{"a":1,"a":2}"#, String(repeating: "[", count: 100_000),
                String(repeating: #"{"a":"#, count: 40_000), good.replacing("groupKey", with: "key"),
                good.replacing(#""groupKey": ""#, with: #""groupKey": 7, "x": ""#),
                good.replacing(#""status": "firing","#, with: #""status": "suppressed","#),
                good.replacing("startsAt", with: "start"), good.replacing(#""labels": {"#, with: #""tags": {"#),
                group([]), group(["7"]), group([#"{"labels":[],"startsAt":"s"}"#]),
                group([#"{"labels":{},"startsAt":7}"#]), #"{"groupKey":"k","status":"firing","alerts":{}}"#,
            ].map { (Self.alerts, json, $0.isEmpty ? " " : $0, "malformed") }
            for (path, type, body, code) in wrong + broken {
                let answer = try server.send("POST", path, body, type: type)
                #expect(
                    answer.code == code && (400..<500).contains(answer.status), "\(body.prefix(80)): \(answer.body)")
                #expect(!answer.body.contains("db1"))
            }
            #expect(try await phone.newPushes().isEmpty)
        }
    }

    @Test("altered webhooks are read or refused, and what is read has a visible title") func altered() throws {
        var random = SeededGenerator()
        let good = try ["alertmanager-firing", "alertmanager-resolved", "grafana"].map { Array(try Self.body($0).utf8) }
        var counts: [Bool: Int] = [:]
        for round in 0..<Thoroughness.count(3_000, thorough: 300_000) {
            var body = good[round % good.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<body.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: body[at] = UInt8.random(in: 0...255, using: &random)
                case 1: body.remove(at: at)
                default: body.insert(contentsOf: body[at..<min(at + 9, body.count)], at: at)
                }
            }
            guard let members = try? JSONReader.members(body) else { continue }
            do throws(Problem) {
                let notice = Notice(try AlertGroup(members))
                #expect(notice.content.alert.isVisible && notice.content.collapseID?.utf8.count == 29)
                counts[true, default: 0] += 1
            } catch {
                #expect(error.status == .badRequest && error.code == "malformed")
                counts[false, default: 0] += 1
            }
        }
        #expect(counts[true, default: 0] > 100 && counts[false, default: 0] > 10, "\(counts)")
    }
}
