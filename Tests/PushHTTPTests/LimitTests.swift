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
    @Test("accounts that don't fit in the rate limiter share one bucket until other buckets are full again")
    func strangers() {
        let now = Locked(ContinuousClock.now)
        let rates = RateLimiter<UserName>(burst: 2, maximumCount: 3, clock: { now.withLock { $0 } })
        for name: UserName in ["a", "b", "c"] { #expect(rates.take(name)) }
        #expect((1...5).map { rates.take(UserName(parsing: "new \($0)")!) } == [true, true, false, false, false])
        #expect((1...2).map { _ in rates.take("a") } == [true, false])
        now.withLock { $0 += .seconds(1) }
        #expect((1...3).map { _ in rates.take("new 1") } == [true, true, false])
        #expect((1...2).map { _ in rates.take("a") } == [true, false])
    }

    @Test("a rate limit can have another interval") func intervals() {
        let now = Locked(ContinuousClock.now)
        let rates = RateLimiter<UserName>(burst: 5, every: .seconds(720), clock: { now.withLock { $0 } })
        #expect((1...6).map { _ in rates.take("a") } == [true, true, true, true, true, false])
        now.withLock { $0 += .seconds(719) }
        #expect(!rates.take("a"))
        now.withLock { $0 += .seconds(1) }
        #expect((1...2).map { _ in rates.take("a") } == [true, false])
    }

    @Test("an ended login uses up none of its account's requests, wherever it was ended", arguments: [true, false])
    func ended(isHere: Bool) async throws {
        let now = ContinuousClock.now
        var limits = ServerLimits.unhurried
        (limits.accountBurst, limits.clock) = (3, { now })
        try await RunningServer.with(limits: limits) { server in
            let path = "/v1/phones/\(EnrollmentPrivateKey().enrollment)"
            let stolen = try server.login("alice")
            if isHere {
                #expect(try server.send("DELETE", "/v1/logins/alice").status == 204)
            } else {
                try await server.outbox.endLogins(of: "alice", at: OutboxClock.system.now())
            }
            for _ in 1...5 { try #require(try server.send("DELETE", path, token: stolen).status == 401) }
            var own = ""
            // Logins of the same millisecond were ended, too.
            try await eventually("a new login is valid") {
                own = try server.login("alice")
                return try server.send("DELETE", path, token: own).status == 204
            }
            #expect(try (1...3).map { _ in try server.send("DELETE", path, token: own).status } == [204, 204, 429])
            #expect(try server.send("DELETE", path, token: stolen).status == 401)
        }
    }

    @Test("an answer is computed once for all concurrent callers and kept for a second, even if it fails")
    func kept() async throws {
        let now = Locked(ContinuousClock.now)
        let clock: @Sendable () -> ContinuousClock.Instant = { now.withLock { $0 } }
        let (gate, count) = (TaskSemaphore(1), Locked(0))
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
        try await eventually("all callers wait") { answer.waitingCount == 20 }
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

    @Test("metrics are counted at most once a second, however many callers there are") func figures() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox(at: folder.appending("outbox.db").path)
        let now = Locked(ContinuousClock.now)
        var limits = ServerLimits.unhurried
        limits.clock = { now.withLock { $0 } }
        let server = try MetricsServer(
            host: "127.0.0.1", port: 0, metrics: PrometheusMetrics(), outbox: outbox, deliveries: { nil },
            limits: limits, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let token = try #require(DeviceToken(parsing: "abcd"))
        try await RunningServer.serving(stop: server.stop) { listening in
            try await server.run { listening($0 ?? 0) }
        } during: { (port: Int) in
            let devices = {
                let page = try Program(at: "/usr/bin/curl").run("-sS", "http://127.0.0.1:\(port)/metrics").output
                return page.split(separator: "\n").first { $0.hasPrefix("push_outbox_devices ") }.map { String($0) }
            }
            #expect(try devices() == "push_outbox_devices 0")
            try await outbox.register(
                RegisteredDevice(
                    name: "phone", user: "alice", topic: RunningServer.topic,
                    keys: .unverified(DevicePrivateKey().recipient),
                    address: .active(.apns(token, .production), registered: .now())))
            #expect(try devices() == "push_outbox_devices 0")
            now.withLock { $0 += .seconds(1) }
            #expect(try devices() == "push_outbox_devices 1")
        }
    }

    @Test("a server purges expired records by itself, without a courier or receipts") func upkeep() async throws {
        var limits = ServerLimits.unhurried
        limits.upkeepInterval = .milliseconds(10)
        try await RunningServer.with(limits: limits) { server in
            try await server.outbox.endLogins(of: "alice", at: 0)
            try await eventually("the record is purged") {
                try await server.outbox.loginsEnded(for: "alice") == nil
            }
        }
    }

    @Test("a limited number of batches is processed at once, and the body of a waiting batch isn't read")
    func batches() async throws {
        var limits = ServerLimits.unhurried
        limits.batchCount = 1
        try await RunningServer.with(limits: limits) { server in
            let batches = try #require(server.server).batches
            let line = RunningServer.json([
                "recipient": DevicePrivateKey().recipient.description, "unverified": true,
                "content": ["alert": ["title": "Nina"]],
            ])
            let clients = try (1...3).map { _ in try RawClient(port: server.port) }
            for (client, path) in zip(clients, ["seal", "messages", "seal"]) {
                client.write(Self.batchHead("/v1/\(path)", line))
            }
            // No body has arrived, so one batch has the place, and the others have not begun.
            try await eventually("two batches wait") { batches.waitingCount == 2 }
            // A single message doesn't wait for a place.
            #expect(try server.send("POST", "/v1/seal", line).status == 200)
            for client in clients { client.write(line) }
            for client in clients { #expect(await client.status() == 200) }
            #expect(batches.waitingCount == 0)
        }
    }

    @Test("an account has a device limit: existing devices keep working, and one that leaves makes room")
    func devices() async throws {
        var limits = ServerLimits.unhurried
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

            // Even if they arrive at once, they are counted one by one.
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

    /// Returns the head of a batch request.
    private static func batchHead(_ path: String, _ body: String) -> String {
        RunningServer.head("POST", path, "content-type: application/x-ndjson", "content-length: \(body.utf8.count)")
    }

    // MARK: Waiting too long

    @Test("a batch that has waited too long is told to retry, well before its connection is closed")
    func batch() async throws {
        #expect(ServerLimits().batchPatience * 2 < ServerLimits().requestTime)
        var limits = ServerLimits.unhurried
        limits.batchCount = 1
        limits.batchPatience = .milliseconds(10)
        try await RunningServer.with(limits: limits) { server in
            let batches = try #require(server.server).batches
            await batches.enter()
            let (late, line) = (try RawClient(port: server.port), "{}\n")
            late.write(Self.batchHead("/v1/messages", line))
            let answer = try #require(await late.head())
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.lowercased().contains("retry-after: 10\r\n"))
            #expect(batches.waitingCount == 0)
            batches.leave()
            let next = try RawClient(port: server.port)
            next.write(Self.batchHead("/v1/messages", line) + line)
            #expect(await next.status() == 200)
        }
    }

    @Test("one request of an account is processed at a time, so that it takes one place and leaves room for others")
    func turns() async throws {
        var limits = ServerLimits.unhurried
        limits.admittedCount = 2
        try await RunningServer.with(limits: limits) { server in
            let admission = try #require(server.server).phoneGate
            let ask = { (login: String) in
                let client = try RawClient(port: server.phonesPort)
                let path = "/v1/phones/\(EnrollmentPrivateKey().enrollment)"
                client.write(RunningServer.head("DELETE", path, token: login))
                return client
            }
            let (alice, bob) = (try server.login("alice"), try server.login("bob"))
            for _ in 1...2 { await admission.semaphore.enter() }
            var heldCount = 2
            defer { for _ in 0..<heldCount { admission.semaphore.leave() } }
            var clients = try (1...5).map { _ in try ask(alice) }
            try await eventually("alice's requests wait") {
                admission.accounts.waitingCount == 4 && admission.semaphore.waitingCount == 1
            }
            clients.append(try ask(bob))
            try await eventually("bob's request waits for a place") { admission.semaphore.waitingCount == 2 }
            for _ in 1...2 { admission.semaphore.leave() }
            heldCount = 0
            for client in clients { #expect(await client.status() == 204) }
            #expect(admission.accounts.waitingCount == 0 && admission.semaphore.waitingCount == 0)
        }
    }

    @Test("erasing an account waits for its request in progress, which may enroll a phone") func erasing() async throws
    {
        try await RunningServer.with { server in
            let accounts = try #require(server.server).phoneGate.accounts
            let client = try RawClient(port: server.port)
            try await accounts.run("alice") {
                client.write(RunningServer.head("DELETE", "/v1/users/alice"))
                try await eventually("the erasure waits") { accounts.waitingCount == 1 }
                try await server.outbox.register(
                    RegisteredDevice(
                        name: "phone", user: "alice", topic: RunningServer.topic,
                        keys: .unverified(DevicePrivateKey().recipient), address: .none(.apns(), reason: nil)))
            }
            #expect(await client.status() == 200)
            #expect(try await server.outbox.devices(of: "alice").isEmpty)
        }
    }
}
