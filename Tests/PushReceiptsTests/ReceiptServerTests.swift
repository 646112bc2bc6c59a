import Foundation
import PushOutbox
import PushReceipts
import PushSender
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import TestThreads
import Testing

@Suite("The server for receipts", .blocking)
struct ReceiptServerTests {
    private let folder: TemporaryFolder
    private let outbox: Outbox
    private let devices = ReceivedReceipts()

    init() throws {
        folder = try TemporaryFolder()
        outbox = try Outbox(at: folder.appending("outbox.db").path)
    }

    /// The machine may be busy: no limit of time is met by chance.
    private static var patient: ReceiptServerLimits {
        var limits = ReceiptServerLimits()
        limits.requestTime = .seconds(600)
        return limits
    }

    private func serving(
        _ limits: ReceiptServerLimits = Self.patient, _ body: (ReceiptServer) async throws -> Void
    ) async throws {
        let server = try await ReceiptServer.start(
            port: 0, receiver: ReceiptReceiver(keys: [devices.key]), outbox: outbox, limits: limits)
        do { try await body(server) } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func post(_ client: RawClient, _ body: [UInt8], more: String = "") async -> Int? {
        client.write("POST /receipts HTTP/1.1\r\nhost: a\r\ncontent-length: \(body.count)\r\n\(more)\r\n", body)
        return await client.status()
    }

    @Test("counts what devices post, once each, many on one connection")
    func counted() async throws {
        try await serving { server in
            let client = try RawClient(port: server.port)
            let first = devices.bytes("a", failures: [.unknownRecipient: 2], at: .now())
            #expect(await post(client, first) == 204)
            #expect(await post(client, first) == 204)
            for name in ["b", "c"] { #expect(await post(client, devices.bytes(name, at: .now())) == 204) }
            // In chunks, and to any path.
            let last = devices.bytes("d", at: .now())
            client.write("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n40\r\n", Array(last[..<64]))
            client.write("\r\n40\r\n", Array(last[64...]))
            client.write("\r\n0\r\n\r\n")
            #expect(await client.status() == 204)
        }
        let report = try await outbox.receipts()
        #expect(report.total.shownCount == 4)
        #expect(report.total.repeatedCount == 1)
        #expect(report.total.failures == ["unknown-recipient": 2])
        #expect(report.deviceCount == 4)
    }

    @Test("has counted a receipt when it says so, also when it is killed in the next moment")
    func durable() async throws {
        try await serving { server in
            let client = try RawClient(port: server.port)
            for name in ["a", "b"] {
                #expect(await post(client, devices.bytes(name, at: .now())) == 204)
                #expect(try await outbox.receipts(of: devices.request(name).id)?.shownCount == 1)
            }
        }
    }

    @Test("refuses what is no receipt of its devices, says why, and counts that")
    func refused() async throws {
        let good = devices.bytes("a", at: .now())
        let flipped = good.dropLast() + [good[127] ^ 1]
        let old = devices.bytes("a", at: Timestamp.now().advanced(bySeconds: -8 * 86_400))
        let ahead = devices.bytes("a", at: Timestamp.now().advanced(bySeconds: 2 * 86_400))
        let cases: [([UInt8], ReceiptError)] = [
            ([], .wrongSize), (Array(good.dropLast()), .wrongSize), ([2] + good.dropFirst(), .unknownVersion),
            (Array(flipped), .rejected), (ReceivedReceipts().bytes("a", at: .now()), .rejected), (old, .tooOld),
            (ahead, .clock),
        ]
        try await serving { server in
            for (body, error) in cases {
                let client = try RawClient(port: server.port)
                #expect(await post(client, body, more: "connection: close\r\n") == 400)
                #expect(await client.rest() == "\(error.rawValue)\n")
            }
        }
        let total = try await outbox.receipts().total
        #expect(total.shownCount == 0)
        #expect(total.refusals == ["wrong-size": 2, "unknown-version": 1, "rejected": 2, "too-old": 1, "clock": 1])
    }

    @Test("reads no more than a receipt's bytes, and answers nothing but POST")
    func limits() async throws {
        try await serving { server in
            let long = [UInt8](repeating: 0, count: 129)
            var client = try RawClient(port: server.port)
            #expect(await post(client, long) == 413)
            #expect(await client.rest() == "")
            client = try RawClient(port: server.port)
            client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999\r\n\r\n")
            #expect(await client.status() == 413)
            client = try RawClient(port: server.port)
            client.write("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n81\r\n", long)
            #expect(await client.status() == 413)
            for method in ["GET", "PUT", "HEAD", "OPTIONS", "DELETE"] {
                client = try RawClient(port: server.port)
                client.write("\(method) / HTTP/1.1\r\nhost: a\r\n\r\n")
                #expect(await client.status() == 405, "\(method)")
            }
            client = try RawClient(port: server.port)
            #expect(await post(client, devices.bytes("a", at: .now())) == 204)
        }
    }

    @Test("lives through what is no HTTP")
    func noise() async throws {
        var limits = ReceiptServerLimits()
        limits.requestTime = .milliseconds(200)
        try await serving(limits) { server in
            for noise in [
                "\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "POST / HTTP/9.9\r\n\r\n",
                String(repeating: "x", count: 300_000),
            ] {
                let client = try RawClient(port: server.port)
                client.write(noise)
                #expect([nil, 400, 505].contains(await client.status()))
            }
        }
    }

    @Test("gives up a connection that is slow, and takes so many at once")
    func slowAndMany() async throws {
        var limits = ReceiptServerLimits()
        limits.requestTime = .milliseconds(200)
        try await serving(limits) { server in
            let client = try RawClient(port: server.port)
            client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 128\r\n\r\nx")
            #expect(await client.status() == nil)
            #expect(try await RawClient(port: server.port).status() == nil)
        }
        limits = Self.patient
        limits.connectionCount = 2
        try await serving(limits) { server in
            let held = try (0..<2).map { _ in try RawClient(port: server.port) }
            for client in held { #expect(await post(client, devices.bytes("a", at: .now())) == 204) }
            #expect(try await RawClient(port: server.port).status() == nil)
            #expect(await post(held[0], devices.bytes("a", at: .now())) == 204)
        }
    }

    @Test("takes no more of a device in a day than it should have")
    func tooMany() async throws {
        let many = try (0..<ReceiptDevice.maximumPerDay).map { _ in try devices.receipt("a", at: .now()) }
        try await outbox.count(many)
        try await serving { server in
            let client = try RawClient(port: server.port)
            #expect(await post(client, devices.bytes("a", at: .now())) == 429)
            #expect(await post(client, devices.bytes("b", at: .now())) == 204)
        }
    }

    @Test("stops reading from a client that reads no answers, and lets it go in time")
    func unreadAnswers() async throws {
        let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 128\r\n\r\n" + String(repeating: "x", count: 128)
        let text = String(repeating: request, count: 100)
        let most = 48 << 20
        var limits = ReceiptServerLimits()
        limits.requestTime = .seconds(20)
        try await serving(limits) { server in
            let client = try RawClient(port: server.port)
            // What is on its way lies in the system's buffers, some megabytes at most.
            let taken = await client.flood(text, atMost: most, patience: 4)
            #expect(taken.byteCount < most)
            #expect(await client.flood(text, atMost: most, patience: 120).isClosed)
        }
    }

    @Test("tells devices to come again where the outbox can't be written")
    func unavailable() async throws {
        let other = try Outbox(at: folder.appending("held.db").path, clock: .system, busyLimit: 0.05)
        let server = try await ReceiptServer.start(
            port: 0, receiver: ReceiptReceiver(keys: [devices.key]), outbox: other, limits: Self.patient)
        let holder = try Program(at: "/usr/bin/python3").start(
            ["-c", Self.holding, folder.appending("held.db").path, folder.appending("ready").path])
        try await eventually("the file is held") {
            FileManager.default.fileExists(atPath: folder.appending("ready").path)
        }
        let client = try RawClient(port: server.port)
        let bytes = devices.bytes("a", at: .now())
        client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 128\r\n\r\n", bytes)
        let head = await client.head()
        #expect(head?.hasPrefix("HTTP/1.1 503 ") == true)
        #expect(head?.contains("retry-after: 60") == true)
        holder.kill()
        try await eventually("it is taken") { await post(client, bytes) == 204 }
        await server.stop()
        #expect(try await other.receipts().total.shownCount == 1)
    }

    private static let holding = """
        import sqlite3, sys, time
        base = sqlite3.connect(sys.argv[1], isolation_level=None)
        base.execute("BEGIN EXCLUSIVE")
        open(sys.argv[2], "w").close()
        time.sleep(300)
        """

    @Test("counts many devices' receipts at once")
    func crowd() async throws {
        try await serving { server in
            await withTaskGroup(of: Int.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        guard let client = try? RawClient(port: server.port) else { return 0 }
                        var count = 0
                        for _ in 0..<20 where await post(client, devices.bytes("\(number)", at: .now())) == 204 {
                            count += 1
                        }
                        return count
                    }
                }
                var count = 0
                for await part in group { count += part }
                #expect(count == 320)
            }
        }
        let report = try await outbox.receipts()
        #expect(report.total.shownCount == 320)
        #expect(report.deviceCount == 16)
    }
}
