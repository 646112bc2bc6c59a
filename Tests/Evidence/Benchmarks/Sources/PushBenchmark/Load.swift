import Foundation
import PushAPNs
import PushSender

/// Devices, and the ways to send to them.
struct Load: Sendable {
    struct Device: Sendable {
        let token: DeviceToken
        let recipient = DevicePrivateKey().recipient
    }

    enum Sealing {
        /// Payloads are sealed in advance.
        case before
        case forSeen
        /// Each push has its own recipient.
        case forNew
    }

    private let transport: APNsTransport
    private let sealer = Sealer(
        sender: SenderPrivateKey(), topic: "com.example.app", safeDefault: "You have a new message!")
    private let devices: [Device]
    private let content = Content(title: "Nina", body: "Lunch at one? The usual place.")

    init(_ transport: APNsTransport, tokens: [DeviceToken]) {
        self.transport = transport
        devices = tokens.map { Device(token: $0) }
        transport.trust(tokens.map { .apns($0) }, topic: "com.example.app")
    }

    /// Sends as fast as answers arrive: each of `concurrency` tasks sends one push after the other.
    func closed(count: Int, concurrency: Int, sealing: Sealing) async throws -> String {
        let recipients =
            sealing == .forNew ? (0..<count).map { _ in DevicePrivateKey().recipient } : devices.map { $0.recipient }
        let ready = sealing == .before ? try devices.map { try sealer.seal(content, toUnverified: $0.recipient) } : []
        let start = ContinuousClock.now
        let cpuStart = ProcessorTime.microseconds()
        let refusedCount = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<concurrency {
                group.addTask(executorPreference: transport.taskExecutor) {
                    var refusedCount = 0
                    for index in stride(from: worker, to: count, by: concurrency) {
                        let device = devices[index % devices.count]
                        let payload =
                            ready.isEmpty
                            ? try sealer.seal(content, toUnverified: recipients[index % recipients.count])
                            : ready[index % ready.count]
                        if !(await isAccepted(payload, device.token)) { refusedCount += 1 }
                    }
                    return refusedCount
                }
            }
            return try await group.reduce(0, +)
        }
        let cpu = ProcessorTime.microseconds() - cpuStart
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        return String(format: "%.0f %.2f %d", Double(count) / elapsed, cpu / Double(count), refusedCount)
    }

    /// Sends at its own pace, regardless of answers. Times count from when a push was due, not from when it was sent.
    func paced(rate: Int, seconds: Int) async throws -> String {
        let count = rate * seconds
        let start = ContinuousClock.now + .milliseconds(10)
        // Not a task group, in which ending a task takes longer the more tasks there are.
        let (answers, answer) = AsyncStream.makeStream(of: Double?.self)
        var sentCount = 0
        while sentCount < count {
            let dueCount = min(count, Int((ContinuousClock.now - start) / .seconds(1) * Double(rate)))
            if dueCount > sentCount {
                let numbers = sentCount..<dueCount
                // One switch to the transport's thread for all pushes that are due.
                Task(executorPreference: transport.taskExecutor) {
                    for number in numbers {
                        Task(executorPreference: transport.taskExecutor) {
                            answer.yield(
                                await latency(of: number, due: start + .seconds(Double(number) / Double(rate))))
                        }
                    }
                }
                sentCount = dueCount
            }
            // Not more often: whenever this thread wakes, it takes the core from the transport's.
            usleep(1_000)
        }
        var times: [Double?] = []
        for await time in answers {
            times.append(time)
            if times.count == count { break }
        }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let sorted = times.compactMap { $0 }.sorted()
        func quantile(_ share: Double) -> Double { sorted.isEmpty ? 0 : sorted[Int(Double(sorted.count - 1) * share)] }
        return String(
            format: "%.2f %.2f %.2f %.0f %d", quantile(0.5), quantile(0.99), quantile(1), Double(count) / elapsed,
            count - sorted.count)
    }

    /// Returns the milliseconds from when a push was due to its answer, or nil if it wasn't accepted.
    private func latency(of number: Int, due: ContinuousClock.Instant) async -> Double? {
        let device = devices[number % devices.count]
        guard let payload = try? sealer.seal(content, toUnverified: device.recipient),
            await isAccepted(payload, device.token)
        else { return nil }
        return (ContinuousClock.now - due) / .milliseconds(1)
    }

    /// Returns the accepted pushes per second for all devices but the last, which has a bad token or gets no pushes.
    func others(seconds: Double, concurrency: Int, besideBadToken: Bool) async throws -> String {
        // The local APNs knows that a token of another length doesn't belong to a device.
        guard let badToken = DeviceToken(parsing: "bad0") else { return "" }
        // As if it had worked until now.
        transport.trust([.apns(badToken)], topic: "com.example.app")
        let ready = try devices.map { try sealer.seal(content, toUnverified: $0.recipient) }
        let end = ContinuousClock.now + .seconds(seconds)
        let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
            if besideBadToken {
                group.addTask(executorPreference: transport.taskExecutor) {
                    while ContinuousClock.now < end { _ = await isAccepted(ready[0], badToken) }
                    return 0
                }
            }
            for worker in 0..<concurrency {
                group.addTask(executorPreference: transport.taskExecutor) {
                    var acceptedCount = 0
                    var index = worker
                    while ContinuousClock.now < end {
                        index = (index + concurrency) % devices.count
                        if await isAccepted(ready[index], devices[index].token) { acceptedCount += 1 }
                    }
                    return acceptedCount
                }
            }
            return try await group.reduce(0, +)
        }
        return String(format: "%.0f", Double(accepted) / seconds)
    }

    private func isAccepted(_ payload: SealedPayload, _ token: DeviceToken) async -> Bool {
        if case .accepted? = try? await transport.deliver(PushRequest(payload, to: .apns(token))) {
            true
        } else {
            false
        }
    }
}
