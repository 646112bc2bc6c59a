import Foundation
import PushCore
import PushOutbox
import PushSender
import PushService
import SealedPush
import TestSupport
import Testing

@testable import PushHTTP

@Suite("The server's sender", .blocking) struct SenderTests {
    private static let content: [String: [String: String]] = ["alert": ["title": "Nina"]]

    private static func sealing() -> [String: Any] {
        ["recipient": DevicePrivateKey().recipient.description, "unverified": true, "content": content]
    }

    @Test(
        "without a sender, nothing is sealed or stored and logins are invalid; a new sender works, and old logins stay invalid"
    )
    func withdrawn() async throws {
        try await RunningServer.with { server in
            let running = try #require(server.server)
            #expect(try await server.update(server.phone("phone"), as: "alice").isRegistered)
            let login = try server.login("alice")
            let message: [String: Any] = ["user": "alice", "content": Self.content]
            #expect(try server.post("/v1/seal", Self.sealing()).status == 200)
            running.withdrawSender()
            let requests: [(String, [String: Any])] = [
                ("/v1/seal", Self.sealing()), ("/v1/messages", message), ("/v1/logins", ["user": "alice"]),
            ]
            for (path, body) in requests {
                let answer = try server.post(path, body)
                #expect(answer.status == 503 && answer.code == "no-sender", "\(path): \(answer.body)")
                #expect(answer.head.lowercased().contains("retry-after: 60\r\n"))
            }
            for (path, body) in requests.prefix(2) {
                let answer = try server.batch(path, [body, body].map(RunningServer.json))
                #expect(answer.lines.map { $0["code"] as? String } == ["no-sender", "no-sender"])
            }
            #expect(try await server.outbox.status().waitingCount == 0)
            let phone = "/v1/phones/\(EnrollmentPrivateKey().enrollment)"
            #expect(try server.send("DELETE", phone, token: login).code == "no-sender")
            #expect(try server.send("GET", "/v1/sender-set", token: login).code == "no-sender")
            #expect(try server.send("POST", "/v1/receipts", at: server.phonesPort).code == "no-sender")
            #expect(try server.send("GET", "/v1/outbox").status == 200)
            #expect(try server.send("GET", "/v1/outbox", token: login).status == 401)
            let ready = try server.send("GET", "/readyz", token: nil)
            #expect(ready.status == 503 && ready.code == "no-sender")
            #expect(try server.send("GET", "/healthz", token: nil).status == 200)
            // It is known to be missing, which is more specific.
            running.doubtSender()
            #expect(try server.send("GET", "/readyz", token: nil).code == "no-sender")

            let new = SenderPrivateKey()
            running.use(keys: RunningServer.keys(of: new))
            let sealed = try server.post("/v1/seal", Self.sealing())
            #expect(sealed.status == 200 && sealed.json["sender"] as? String == new.sender.description)
            #expect(try server.send("GET", "/readyz", token: nil).status == 200)
            #expect(try server.send("DELETE", phone, token: login).status == 401)
            #expect(try server.send("DELETE", phone, token: server.login("alice")).status == 204)
        }
    }

    @Test("a sender whose keys could not be reread stays in use, and the server isn't ready until they can be")
    func doubtful() async throws {
        let unread = Locked<PushServer.Unread?>(nil)
        let current: @Sendable () -> PushServer.Unread? = { unread.withLock { $0 } }
        try await RunningServer.with(unread: current) { server in
            for (late, code) in [(PushServer.Unread.keys, "keys-unread"), (.files, "files-unread")] {
                unread.withLock { $0 = late }
                let ready = try server.send("GET", "/readyz", token: nil)
                #expect(ready.status == 503 && ready.code == code)
                #expect(try server.post("/v1/seal", Self.sealing()).status == 200)
            }
            unread.withLock { $0 = nil }
            #expect(try server.send("GET", "/readyz", token: nil).status == 200)
            let running = try #require(server.server)
            running.doubtSender()
            let ready = try server.send("GET", "/readyz", token: nil)
            #expect(ready.status == 503 && ready.code == "keys-unread")
            #expect(try server.post("/v1/seal", Self.sealing()).status == 200)
            running.use(keys: RunningServer.keys(of: server.sender))
            #expect(try server.send("GET", "/readyz", token: nil).status == 200)
        }
    }
}
