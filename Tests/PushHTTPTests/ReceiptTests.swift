import Foundation
import PushOutbox
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("Receipts at the phones' listener", .blocking) struct ReceiptTests {
    private func post(_ client: RawClient, _ body: [UInt8], more: String = "") async -> Int? {
        client.write("POST /v1/receipts HTTP/1.1\r\nhost: a\r\ncontent-length: \(body.count)\r\n\(more)\r\n", body)
        return await client.status()
    }

    @Test("a receipt is counted once, and durable once the response arrives") func counted() async throws {
        try await RunningServer.with { server in
            let devices = ReceivedReceipts(server.sender)
            let client = try RawClient(port: server.phonesPort)
            let first = devices.bytes("a", failures: [.unknownRecipient: 2], at: .now())
            for _ in 1...2 { #expect(await post(client, first) == 204) }
            #expect(try await server.outbox.receipts(of: devices.request("a").id)?.shownCount == 1)
            let last = devices.bytes("b", at: .now())
            let head = "POST /v1/receipts HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
            client.write(head + "40\r\n", Array(last[..<64]))
            client.write("\r\n40\r\n", Array(last[64...]))
            client.write("\r\n0\r\n\r\n")
            #expect(await client.status() == 204)
            let report = try await server.outbox.receipts()
            #expect(report.total.shownCount == 2 && report.total.repeatedCount == 1 && report.deviceCount == 2)
            #expect(report.total.failures == ["unknown-recipient": 2])
        }
    }

    @Test("a receipt that isn't from this sender's devices is refused with its reason, and counted")
    func refused() async throws {
        try await RunningServer.with { server in
            let devices = ReceivedReceipts(server.sender)
            let good = devices.bytes("a", at: .now())
            let cases: [([UInt8], Int, String)] = [
                ([], 400, "wrong-size"), (Array(good.dropLast()), 400, "wrong-size"),
                ([2] + good.dropFirst(), 400, "unknown-version"),
                (Array(good.dropLast()) + [good[127] ^ 1], 400, "rejected"),
                (ReceivedReceipts().bytes("a", at: .now()), 400, "rejected"),
                (devices.bytes("a", at: Timestamp.now().advanced(bySeconds: -8 * 86_400)), 400, "too-old"),
                (devices.bytes("a", at: Timestamp.now().advanced(bySeconds: 2 * 86_400)), 400, "clock"),
                ([UInt8](repeating: 0, count: 129), 413, "body-too-large"),
            ]
            for (body, status, code) in cases {
                let client = try RawClient(port: server.phonesPort)
                #expect(await post(client, body, more: "connection: close\r\n") == status, "\(code)")
                #expect(await client.rest().contains("\"code\":\"\(code)\""))
            }
            let total = try await server.outbox.receipts().total
            #expect(total.shownCount == 0)
            #expect(total.refusals == ["wrong-size": 2, "unknown-version": 1, "rejected": 2, "too-old": 1, "clock": 1])
        }
    }

    @Test("a device has a daily limit of receipts, and other devices are unaffected") func tooMany() async throws {
        try await RunningServer.with { server in
            let devices = ReceivedReceipts(server.sender)
            let many = try (0..<ReceiptDevice.maximumPerDay).map { _ in try devices.receipt("a", at: .now()) }
            try await server.outbox.count(many)
            let client = try RawClient(port: server.phonesPort)
            client.write(
                "POST /v1/receipts HTTP/1.1\r\nhost: a\r\ncontent-length: 128\r\n\r\n", devices.bytes("a", at: .now()))
            let head = try #require(await client.head())
            #expect(head.hasPrefix("HTTP/1.1 429 ") && head.lowercased().contains("retry-after: 86400\r\n"))
            #expect(await post(try RawClient(port: server.phonesPort), devices.bytes("b", at: .now())) == 204)
        }
    }

    @Test("if the outbox can't be written, phones are told to retry") func unavailable() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox(at: folder.appending("held.db").path, clock: .system, busyLimit: 0.05)
        let sender = SenderPrivateKey()
        let state = ServerState(keys: RunningServer.keys(of: sender), senderSet: nil, tokens: nil)
        let routes = ReceiptRoutes(outbox, state: { state })
        let holder = try Program(at: "/usr/bin/python3").start(
            ["-c", Self.holding, folder.appending("held.db").path, folder.appending("ready").path])
        defer { holder.kill() }
        try await eventually("the file is held") {
            FileManager.default.fileExists(atPath: folder.appending("ready").path)
        }
        let receipt = try ReceivedReceipts(sender).receipt("a", at: .now())
        #expect(await routes.counted(.success(receipt)) == nil)
        holder.kill()
        try await eventually("the receipt is counted") { await routes.counted(.success(receipt)) != nil }
        #expect(try await outbox.receipts().total.shownCount == 1)
    }

    @Test("if the outbox does not respond, a probe gets an answer before it times out") func unready() async throws {
        var limits = ServerLimits.unhurried
        limits.readinessPatience = .seconds(1)
        try await RunningServer.with(limits: limits) { server in
            let ready = server.folder.appending("ready").path
            let holder = try Program(at: "/usr/bin/python3").start(
                ["-c", Self.holding, server.folder.appending("outbox.db").path, ready])
            defer { holder.kill() }
            try await eventually("the file is held") { FileManager.default.fileExists(atPath: ready) }
            let answer = try server.send("GET", "/readyz", token: nil)
            #expect(answer.status == 503 && answer.body.contains("the outbox does not respond"), "\(answer.body)")
        }
    }

    private static let holding = """
        import sqlite3, sys, time
        base = sqlite3.connect(sys.argv[1], isolation_level=None)
        base.execute("BEGIN EXCLUSIVE")
        open(sys.argv[2], "w").close()
        time.sleep(300)
        """
}
