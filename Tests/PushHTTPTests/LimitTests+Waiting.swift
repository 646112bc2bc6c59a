import PushCore
import PushOutbox
import PushSender
import SealedPush
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

/// Those who wait for a server.
extension LimitTests {
    /// Long enough for whatever a test waits for.
    private static var unhurried: ServerLimits {
        var limits = ServerLimits()
        limits.requestTime = .seconds(600)
        limits.idleTime = .seconds(600)
        limits.admissionPatience = .seconds(600)
        return limits
    }

    // MARK: Batches

    @Test("a task that gives up is not let in by the semaphore, and those behind it keep their order")
    func impatient() async throws {
        let (places, ending) = (Semaphore(1), Semaphore(1))
        await places.enter()
        await ending.enter()
        let patience: @Sendable () async -> Void = { await ending.enter() }
        let order = Locked<[Int]>([])
        let wait = { (number: Int, patience: (@Sendable () async -> Void)?) in
            Task {
                let hasPlace = await places.enter(within: patience)
                order.withLock { $0.append(hasPlace ? number : -number) }
                if hasPlace { places.leave() }
            }
        }
        var tasks: [Task<Void, Never>] = []
        for number in 1...4 {
            // The second one's patience ends when the test says so.
            tasks.append(wait(number, number == 2 ? patience : nil))
            try await eventually("\(number) to wait") { places.waitingCount == number }
        }
        ending.leave()
        await tasks[1].value
        #expect(order.withLock { $0 } == [-2] && places.waitingCount == 3)
        places.leave()
        for task in tasks { await task.value }
        #expect(order.withLock { $0 } == [-2, 1, 3, 4])
        // Where there is a place at once, nobody's patience matters.
        #expect(await places.enter(within: {}))
        places.leave()
    }

    @Test("a batch that has waited for too long is told to come again, well before its connection is cut off")
    func batch() async throws {
        var limits = Self.unhurried
        #expect(limits.batchPatience * 2 < ServerLimits().requestTime)
        limits.batchCount = 1
        let (patience, pauses) = (Semaphore(1), Locked<[Duration]>([]))
        await patience.enter()
        limits.pause = { length in
            pauses.withLock { $0.append(length) }
            await patience.enter()
        }
        try await RunningServer.with(limits: limits) { server in
            let batches = try #require(server.server).batches
            await batches.enter()
            let (late, line) = (try RawClient(port: server.port), "{}\n")
            let head =
                "POST /v1/messages HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(RunningServer.token)\r\n"
                + "content-type: application/x-ndjson\r\ncontent-length: \(line.utf8.count)\r\n\r\n"
            late.write(head)
            try await eventually("the batch to wait") { batches.waitingCount == 1 && pauses.withLock { !$0.isEmpty } }
            patience.leave()
            let answer = try #require(await late.head())
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.lowercased().contains("retry-after: 10\r\n"))
            #expect(pauses.withLock { $0 } == [limits.batchPatience] && batches.waitingCount == 0)
            batches.leave()
            let next = try RawClient(port: server.port)
            next.write(head + line)
            #expect(await next.status() == 200)
            #expect(pauses.withLock { $0.count } == 1)
        }
    }

    // MARK: Phones

    @Test("of an account one request is worked on at a time, so that it takes one place and leaves others theirs")
    func turns() async throws {
        var limits = Self.unhurried
        limits.admittedCount = 2
        try await RunningServer.with(limits: limits) { server in
            let admission = try #require(server.server).phoneGate
            let ask = { (login: String) in
                let client = try RawClient(port: server.phonesPort)
                client.write(
                    "DELETE /v1/phones/\(EnrollmentPrivateKey().enrollment) HTTP/1.1\r\nhost: a\r\n"
                        + "authorization: Bearer \(login)\r\n\r\n")
                return client
            }
            let (alice, bob) = (try server.login("alice"), try server.login("bob"))
            for _ in 1...2 { await admission.semaphore.enter() }
            var heldCount = 2
            defer { for _ in 0..<heldCount { admission.semaphore.leave() } }
            var clients = try (1...5).map { _ in try ask(alice) }
            try await eventually("alice's to wait") {
                admission.accounts.waitingCount == 4 && admission.semaphore.waitingCount == 1
            }
            clients.append(try ask(bob))
            try await eventually("bob's to wait for a place") { admission.semaphore.waitingCount == 2 }
            for _ in 1...2 { admission.semaphore.leave() }
            heldCount = 0
            for client in clients { #expect(await client.status() == 204) }
            #expect(admission.accounts.waitingCount == 0 && admission.semaphore.waitingCount == 0)
        }
    }
}
