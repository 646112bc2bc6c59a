import Foundation
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

/// Tests the router of Clients/Node with the app's own client. Its own tests cover each route and refusal.
@Suite("The router of Clients/Node", .blocking) struct NodeRouterTests {
    @Test("the app's client enrolls, rotates, tests, recovers from a restored backup, and leaves") func phone()
        async throws
    {
        let server = try await NodeBackEnd()
        defer { server.stop() }
        let phone = try server.phone("phone")
        let first = await server.update(phone, as: "alice")
        #expect(first.isRegistered && first.problems.isEmpty, "\(first.problems) \(server.errors)")
        _ = try phone.rotate()
        let second = await server.update(phone, as: "alice")
        #expect(second.isRegistered && second.problems.isEmpty, "\(second.problems)")
        let rows = try server.rows()
        #expect(rows.map(\.account) == ["alice"] && rows.map(\.provenCount) == [2])
        try await server.client("alice").sendTest(to: phone)
        #expect(try server.payloads().count == 1)

        let (place, backup) = (server.folder.appending("phone"), server.folder.appending("backup"))
        try FileManager.default.copyItem(at: place, to: backup)
        _ = try phone.revoke(at: .now().advanced(bySeconds: 3_600))
        #expect(await server.update(phone, as: "alice").isRegistered)
        try FileManager.default.removeItem(at: place)
        try FileManager.default.moveItem(at: backup, to: place)
        let restored = await server.update(phone, as: "alice")
        #expect(restored.isRegistered && restored.problems.isEmpty, "\(restored.problems)")

        let early = await server.update(phone, as: "bob")
        #expect(early.problems.map(\.error) == [.refused(status: 409, code: "enrolled-elsewhere")])
        // Without a login, as after it has ended.
        let loggedOut = PushServerClient(url: server.url) { throw CancellationError() }
        for _ in 1...2 { try await loggedOut.unregister(phone) }
        #expect(try server.rows().isEmpty)
        #expect(await server.update(phone, as: "bob").isRegistered)
        let nobody = PushServerClient(url: server.url) { "Basic x" }
        let refused = await nobody.register(phone, token: [1], environment: .sandbox, at: .now())
        #expect(refused.problems.map(\.error) == [.refused(status: 401, code: "unauthorized")])
        #expect(server.errors.isEmpty, "\(server.errors)")
    }

    @Test("phones that enroll at once, each in two accounts, belong to one of them") func crowd() async throws {
        let server = try await NodeBackEnd()
        defer { server.stop() }
        let phones = try (1...3).map { try server.phone("phone\($0)") }
        let registered = await withTaskGroup(of: Bool.self) { group in
            for (number, phone) in phones.enumerated() {
                for user in ["alice", "bob"] {
                    group.addTask { await server.update(phone, as: user, token: UInt8(number)).isRegistered }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        let rows = try server.rows()
        #expect(registered >= phones.count && rows.count == phones.count)
        #expect(rows.allSatisfy { $0.provenCount == 1 }, "\(server.errors)")
    }
}

/// Tests/Tools/Clients/node-back-end.mjs, running.
private struct NodeBackEnd {
    let folder: TemporaryFolder
    private let process: ChildProcess
    private let port: Int
    private let sender = SenderPrivateKey()

    init() async throws {
        folder = try TemporaryFolder()
        let (output, errors) = (try folder.write("", to: "output"), try folder.write("", to: "errors"))
        let script = Checkout.folder.appending(path: "Tests/Tools/Clients/node-back-end.mjs").path
        let process = try Program(at: "/usr/bin/node").start(
            [script], output: FileHandle(forWritingTo: URL(filePath: output)),
            errors: FileHandle(forWritingTo: URL(filePath: errors)),
            environment: ["SENDER_SECRET": sender.withSecretText { String(decoding: $0, as: UTF8.self) }])
        self.process = process
        var found: Int?
        try await eventually("the back end's port") {
            let log = try Checkout.text(URL(filePath: errors))
            try #require(!process.hasEnded, "\(log)")
            let said = try Data(contentsOf: URL(filePath: output))
            found = ((try? JSONSerialization.jsonObject(with: said)) as? [String: Int])?["port"]
            return found != nil
        }
        port = try #require(found)
    }

    func stop() {
        process.kill()
        _ = process.wait()
    }

    /// What it has reported.
    var errors: String { (try? Checkout.text(folder.appending("errors"))) ?? "" }

    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }

    func rows() throws -> [(account: String, provenCount: Int)] {
        let rows = try stored()["rows"] as? [[String: Any]] ?? []
        return rows.map { row in
            let proven = (row["state"] as? [String: Any])?["proven"] as? [String] ?? []
            return (row["account"] as? String ?? "", proven.count)
        }
    }

    func payloads() throws -> [String] { try stored()["payloads"] as? [String] ?? [] }

    private func stored() throws -> [String: Any] {
        let result = try Program(at: "/usr/bin/curl").run("-sS", "\(url)/rows")
        return try #require(result.objects.first, "\(result.errors)")
    }

    func phone(_ name: String) throws -> OwnDevice {
        let standard = StandardConfiguration(
            topic: RunningServer.topic.description, senders: [sender.sender.description], safeDefault: "safe default",
            allowsAnonymous: false)
        let phone = SimulatedDevice(container: folder.appending(name))
        return try #require(phone.app(standard, fetcher: CurlFetching(patience: .seconds(600))))
    }

    func client(_ user: String) -> PushServerClient { PushServerClient(url: url) { "Bearer \(user)" } }

    func update(_ phone: OwnDevice, as user: String, token: UInt8 = 1) async -> PushRegistration {
        let token = [UInt8](repeating: token, count: 32)
        return await client(user).register(phone, token: token, environment: .production, at: .now())
    }
}
