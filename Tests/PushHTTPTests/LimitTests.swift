import Foundation
import Logging
import PushCore
import PushOutbox
import PushSender
import PushService
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("The server's limits", .blocking) struct LimitTests {
    @Test("accounts for which the rate limiter has no room share one bucket, until others are as good as new")
    func strangers() {
        let now = Locked(ContinuousClock.now)
        let rates = RateLimiter(burst: 2, maximumCount: 3, clock: { now.withLock { $0 } })
        for name in ["a", "b", "c"] { #expect(rates.take(name)) }
        #expect((1...5).map { rates.take("new \($0)") } == [true, true, false, false, false])
        #expect((1...2).map { _ in rates.take("a") } == [true, false])
        now.withLock { $0 += .seconds(1) }
        #expect((1...3).map { _ in rates.take("new 1") } == [true, true, false])
        #expect((1...2).map { _ in rates.take("a") } == [true, false])
    }

    @Test("a semaphore lets the task in that has waited longest") func places() async throws {
        let places = Semaphore(2)
        for _ in 1...2 { await places.enter() }
        let order = Locked<[Int]>([])
        var waiting: [Task<Void, Never>] = []
        for number in 1...5 {
            waiting.append(
                Task {
                    await places.enter()
                    order.withLock { $0.append(number) }
                    places.leave()
                })
            try await eventually("\(number) to wait") { places.waitingCount == number }
        }
        places.leave()
        for task in waiting { await task.value }
        #expect(order.withLock { $0 } == [1, 2, 3, 4, 5])
        // Both that there were are there again.
        places.leave()
        let entered = Locked(0)
        for _ in 1...3 {
            Task {
                await places.enter()
                entered.withLock { $0 += 1 }
            }
        }
        try await eventually("two to have a place") { entered.withLock { $0 } == 2 && places.waitingCount == 1 }
        places.leave()
        try await eventually("the third to have one") { entered.withLock { $0 } == 3 }
    }

    @Test("an answer is made once for all who ask meanwhile and for a second after, also where it fails")
    func kept() async throws {
        let now = Locked(ContinuousClock.now)
        let clock: @Sendable () -> ContinuousClock.Instant = { now.withLock { $0 } }
        let (gate, count) = (Semaphore(1), Locked(0))
        await gate.enter()
        let answer = Cache<Bool, Int>(clock: clock) { _ in
            await gate.enter()
            gate.leave()
            return count.withLock { count in
                count += 1
                return count
            }
        }
        let asking = (1...20).map { _ in Task { try await answer.value(true) } }
        try await eventually("all to wait") { answer.waitingCount == 20 }
        gate.leave()
        for task in asking { #expect(try await task.value == 1) }
        #expect(answer.waitingCount == 0)
        now.withLock { $0 += .milliseconds(999) }
        #expect(try await answer.value(true) == 1)
        now.withLock { $0 += .milliseconds(1) }
        #expect(try await answer.value(true) == 2)

        let (isMended, madeCount) = (Locked(false), Locked(0))
        let failing = Cache<Bool, Bool>(clock: clock) { _ in
            madeCount.withLock { $0 += 1 }
            guard isMended.withLock({ $0 }) else { throw CancellationError() }
            return true
        }
        for _ in 1...3 { await #expect(throws: CancellationError.self) { try await failing.value(true) } }
        #expect(madeCount.withLock { $0 } == 1)
        isMended.withLock { $0 = true }
        now.withLock { $0 += .seconds(1) }
        #expect(try await failing.value(true))
    }

    @Test("figures are counted once a second at most, whoever asks") func figures() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox(at: folder.appending("outbox.db").path)
        let now = Locked(ContinuousClock.now)
        var limits = ServerLimits()
        limits.clock = { now.withLock { $0 } }
        let server = try MetricsServer(
            host: "127.0.0.1", port: 0, metrics: PrometheusMetrics(), outbox: outbox, deliveries: { nil },
            limits: limits, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let (ports, listening) = AsyncStream<Int>.makeStream()
        let running = Task {
            defer { listening.finish() }
            try await server.run { listening.yield($0 ?? 0) }
        }
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { return try await running.value }
        let devices = {
            let page = try Program(at: "/usr/bin/curl").run("-sS", "http://127.0.0.1:\(port)/metrics").output
            return page.split(separator: "\n").first { $0.hasPrefix("push_outbox_devices ") }.map { String($0) }
        }
        #expect(try devices() == "push_outbox_devices 0")
        let token = try #require(DeviceToken(parsing: "abcd"))
        try await outbox.register(
            RegisteredDevice(
                name: "phone", user: "alice", topic: RunningServer.topic,
                keys: .unverified(DevicePrivateKey().recipient),
                address: .active(.apns(token, .production), registered: .now())))
        #expect(try devices() == "push_outbox_devices 0")
        now.withLock { $0 += .seconds(1) }
        #expect(try devices() == "push_outbox_devices 1")
        await server.stop()
        try await running.value
    }

    @Test("of batches so many are worked on at once, and the body of one that waits is not read before")
    func batches() async throws {
        var limits = ServerLimits()
        limits.batchCount = 1
        (limits.batchPatience, limits.admissionPatience) = (.seconds(600), .seconds(600))
        (limits.firstHeadTime, limits.requestTime) = (.seconds(600), .seconds(600))
        limits.idleTime = .seconds(600)
        try await RunningServer.with(limits: limits) { server in
            let batches = try #require(server.server).batches
            let line = PhoneTests.json([
                "recipient": DevicePrivateKey().recipient.description, "unverified": true,
                "content": ["alert": ["title": "Nina"]],
            ])
            let clients = try (1...3).map { _ in try RawClient(port: server.port) }
            for (client, path) in zip(clients, ["seal", "messages", "seal"]) {
                client.write(
                    "POST /v1/\(path) HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(RunningServer.token)\r\n"
                        + "content-type: application/x-ndjson\r\ncontent-length: \(line.utf8.count)\r\n\r\n")
            }
            // No body has come, so one has the place, and the others have not begun.
            try await eventually("two to wait") { batches.waitingCount == 2 }
            // What is no batch waits for none.
            #expect(try server.send("POST", "/v1/seal", line).status == 200)
            for client in clients { client.write(line) }
            for client in clients { #expect(await client.status() == 200) }
            #expect(batches.waitingCount == 0)
        }
    }

    @Test("an account has so many devices and no more: those that are there go on, and one that leaves makes room")
    func devices() async throws {
        var limits = ServerLimits()
        limits.deviceCount = 2
        try await RunningServer.with(limits: limits) { server in
            let phones = try (0..<3).map { try server.phone("phone \($0)") }
            for (index, phone) in phones.prefix(2).enumerated() {
                #expect(try await server.update(phone, as: "alice", token: UInt8(index)).isRegistered)
            }
            let third = try await server.update(phones[2], as: "alice", token: 2)
            #expect(!third.isRegistered)
            #expect(third.problems.map(\.error) == [.refused(status: 409, code: "too-many-devices")])
            #expect(try await server.outbox.devices(of: "alice").count == 2)
            _ = try phones[0].rotate()
            #expect(try await server.update(phones[0], as: "alice", token: 7).isRegistered)
            #expect(try await server.update(server.phone("bob's"), as: "bob", token: 8).isRegistered)
            try await server.client("alice").unregister(phones[0])
            #expect(try await server.update(phones[2], as: "alice", token: 2).isRegistered)

            // All at once, they are counted one by one.
            let login = try server.login("carol")
            let crowd = try (0..<8).map { try server.phone("carol's \($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, phone) in crowd.enumerated() {
                    group.addTask { _ = try await server.update(phone, with: login, token: [UInt8(20 + index)]) }
                }
                try await group.waitForAll()
            }
            #expect(try await server.outbox.devices(of: "carol").count == 2)
        }
    }
}
