import Foundation
import PushOutbox
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP
@testable import PushPostgres

/// Tests requests for a device whose row another transaction holds.
@Suite("Requests for a held device", .blocking) struct HeldDeviceTests {
    @Test("they get 503 with Retry-After; lines beside them, other devices, and readiness aren't affected")
    func requests() async throws {
        let database = try await PostgresServer.shared.value.database()
        let outbox = try await Outbox(
            postgres: database.address, clock: nil, patience: .seconds(300), rowPatience: .milliseconds(50))
        for name in ["alice", "bob"] {
            try await outbox.register(
                RegisteredDevice(
                    name: DeviceName(parsing: name)!, user: UserName(parsing: name)!, topic: RunningServer.topic,
                    keys: .unverified(DevicePrivateKey().recipient),
                    address: .active(
                        .apns(DeviceToken(parsing: name == "bob" ? "01" : "02")!, .production),
                        registered: .now())))
        }
        let holder = try await PostgresConnection.open(PostgresAddress(parsing: database.address))
        _ = try await holder.run { connection throws(OutboxError) in
            try connection.script(
                "BEGIN; SELECT 1 FROM sealed_push.devices WHERE name = 'alice' FOR NO KEY UPDATE")
        }
        try await RunningServer.with(outbox: outbox) { server in
            func message(_ user: String) -> [String: Any] {
                ["user": user, "content": ["alert": ["body": "Hello"]], "unverified": true]
            }
            for _ in 0..<2 {
                let answer = try server.post("/v1/messages", message("alice"))
                #expect(answer.status == 503 && answer.code == "unavailable", "\(answer.body)")
                #expect(answer.head.lowercased().contains("retry-after: "))
                #expect(try server.post("/v1/messages", message("bob")).status == 202)
                #expect(try server.send("GET", "/readyz", token: nil).status == 200)
            }
            let lines = ["alice", "bob", "alice", "bob"].map { RunningServer.json(message($0)) }
            let answers = try server.batch("/v1/messages", lines).lines.map { $0["status"] as? Int }
            #expect(answers == [503, 202, 503, 202])
            #expect(try server.send("DELETE", "/v1/users/alice").status == 503)
            #expect(try server.send("DELETE", "/v1/devices/alice").status == 503)
            #expect(try server.send("DELETE", "/v1/users/bob").status == 200)
            _ = try await holder.run { connection throws(OutboxError) in try connection.script("COMMIT") }
            try await eventually("alice's message is accepted") {
                try server.post("/v1/messages", message("alice")).status == 202
            }
        }
    }
}
