import Foundation
import PushOutbox
import PushPostgres
import PushSender

/// Measures an outbox's rates on SQLite and PostgreSQL in one run: registering devices, messages to all devices whose keys
/// the sealer has or hasn't seen, and single messages from 16 concurrent tasks. Then, leasing and settling with 1, 2, and 4
/// couriers whose transport answers immediately, and how long a push waits for an idle courier.
///
/// Usage: outbox-benchmark COUNT [POSTGRES-URL [rounds|held [ROUNDS]]]. In rounds, messages come and go while the couriers
/// run, and the rates should remain stable; with `held`, a transaction that has seen the tables remains open throughout.
@main struct OutboxBenchmark {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        let count = words.first.flatMap { Int($0) } ?? 100_000
        let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let address = words.dropFirst().first
        if words.contains("held") || words.contains("rounds"), let address {
            let rounds = words.dropFirst(2).compactMap { Int($0) }.first ?? 100
            return try await Self.rounds(Run("PostgreSQL", count) { try await Outbox(postgres: address) }, rounds)
        }
        let path = folder.appending(path: "outbox.db").path
        try await all(Run("SQLite", count) { try Outbox(at: path) })
        if let address { try await all(Run("PostgreSQL", count) { try await Outbox(postgres: address) }, address) }
        let peak = peakMemoryByteCount() / 1_000_000
        print("peak memory of the process: \(peak) MB   floor: at most 300 MB\(peak > 300 ? ", missed" : "")")
    }

    private static func all(_ run: Run, _ address: String? = nil) async throws {
        let outbox = try await run.open()
        try await run.measure("register", run.count) { try await run.register(in: outbox) }
        let empty = try await outbox.status().fileByteCount
        for recipients in ["new", "known"] {
            try await run.measure("seal and enqueue for everyone, \(recipients) recipients", run.count) {
                try await run.enqueueForEveryone(in: outbox)
            }
        }
        let full = try await outbox.status().fileByteCount
        try await run.deliver(couriers: 1, of: 2 * run.count)
        print("  \(run.name): \(empty / run.count) bytes per device, \((full - empty) / run.count / 2) per message")
        for couriers in [2, 4] {
            try await run.enqueueForEveryone(in: outbox)
            try await run.deliver(couriers: couriers, of: run.count)
        }
        let single = min(run.count, 10_000)
        try await run.measure("enqueue single messages from 16 connections", single) {
            try await run.enqueueSingle(single)
        }
        if let address {
            let sleeper = try Sleeper(at: address)
            try await run.measure("the same, with an idle courier that must be woken each time", single) {
                try await run.enqueueSingle(single)
            }
            sleeper.end()
        }
        try await run.deliver(couriers: 1, of: address == nil ? single : 2 * single)
        try await run.measureWaking()
        _ = try await run.measure("status", 1) { _ = try await outbox.status() }
    }

    /// Two couriers run all the time. A round is a message to everyone while the transport doesn't answer, then the time
    /// until all are delivered once it does. Runs `count` rounds, or until stopped.
    private static func rounds(_ run: Run, _ count: Int) async throws {
        let outbox = try await run.open()
        try await run.register(in: outbox)
        let gate = Gate()
        let couriers = try await run.others(2).map { Courier(for: $0, through: Taker(gate: gate)) }
        for courier in couriers { Task { try await courier.run() } }
        for round in 1...count {
            try await run.measure("round \(round): enqueue", run.count) { try await run.enqueueForEveryone(in: outbox) }
            try await run.measure("round \(round): lease, deliver at once, settle", run.count) {
                await gate.open(for: run.count)
            }
            print("  \(try await outbox.status().fileByteCount / 1_000_000) MB of tables")
        }
        for courier in couriers { await courier.stop() }
    }

    static func peakMemoryByteCount() -> Int { kilobytes(of: "VmHWM:") * 1_000 }

    static func memoryByteCount() -> Int { kilobytes(of: "VmRSS:") * 1_000 }

    /// Returns the CPU time of all PostgreSQL processes on this machine, including ended ones that were waited for.
    static func serverSeconds() -> Double {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.reduce(0) { sum, process in
            let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            guard let end = text.range(of: "(postgres) ")?.upperBound else { return sum }
            let ticks = text[end...].split(separator: " ").dropFirst(11).prefix(4).compactMap { Double($0) }
            return sum + ticks.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    private static func kilobytes(of key: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }
}

/// A store and a sealer.
private struct Run: Sendable {
    let name: String
    let count: Int
    /// Opens the store with a new connection.
    let open: @Sendable () async throws -> Outbox
    private let sealer = Sealer(
        sender: SenderPrivateKey(), topic: "com.example.app", safeDefault: "You have a new message!")
    private let content = Content(title: "Nina", body: String(repeating: "b", count: 80))

    init(_ name: String, _ count: Int, open: @escaping @Sendable () async throws -> Outbox) {
        self.name = name
        self.count = count
        self.open = open
    }

    /// Registers devices with new keys, whose creation is part of the time.
    func register(in outbox: Outbox) async throws {
        var batch: [RegisteredDevice] = []
        for number in 0..<count {
            let hex = String(number, radix: 16)
            let token = String(repeating: "0", count: 64 - hex.count) + hex
            guard let name = DeviceName(parsing: "device-\(number)"),
                let user = UserName(parsing: "user-\(number / 2)"), let token = DeviceToken(parsing: token)
            else { continue }
            batch.append(
                RegisteredDevice(
                    name: name, user: user, topic: "com.example.app", keys: .unverified(DevicePrivateKey().recipient),
                    address: .active(.apns(token), registered: .now())))
            if batch.count == 1_000 || number == count - 1 {
                try await outbox.register(batch)
                batch.removeAll(keepingCapacity: true)
            }
        }
    }

    func enqueueForEveryone(in outbox: Outbox) async throws {
        try await outbox.enqueue(
            OutgoingMessage(content, key: IdempotencyKey(UUID().uuidString)), to: .everyone, from: sealer,
            includingUnverified: true)
    }

    /// Enqueues from tasks that each have their own outbox, and therefore their own connection.
    func enqueueSingle(_ total: Int) async throws {
        let outboxes = try await others(16)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (task, outbox) in outboxes.enumerated() {
                group.addTask {
                    for number in stride(from: task, to: total, by: 16) {
                        guard let name = DeviceName(parsing: "device-\(number % count)") else { continue }
                        try await outbox.enqueue(
                            OutgoingMessage(content), to: .device(name), from: sealer, includingUnverified: true)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    func deliver(couriers: Int, of total: Int) async throws {
        let outboxes = try await [Outbox](repeating: open(), count: 1) + others(couriers - 1)
        try await measure("lease, deliver at once, settle: \(couriers) courier(s)", total) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for outbox in outboxes {
                    group.addTask { try await Courier(for: outbox, through: Taker()).run(until: .empty) }
                }
                try await group.waitForAll()
            }
        }
    }

    func others(_ count: Int) async throws -> [Outbox] {
        var outboxes: [Outbox] = []
        for _ in 0..<count { outboxes.append(try await open()) }
        return outboxes
    }

    /// Measures the time from the return of `enqueue` to the transport, for an idle courier.
    func measureWaking() async throws {
        let (outbox, times) = (try await open(), AsyncStream<ContinuousClock.Instant>.makeStream())
        let courier = Courier(for: try await open(), through: Taker(times.continuation))
        let run = Task { try await courier.run() }
        var waits: [Double] = []
        var iterator = times.stream.makeAsyncIterator()
        for number in 0..<40 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 300...700)))
            guard let name = DeviceName(parsing: "device-\(number % count)") else { continue }
            try await outbox.enqueue(
                OutgoingMessage(content), to: .device(name), from: sealer, includingUnverified: true)
            let start = ContinuousClock.now
            if let end = await iterator.next() { waits.append(max(0, (end - start) / .milliseconds(1))) }
        }
        await courier.stop()
        _ = try await run.value
        waits.sort()
        print(
            String(
                format: "%@: idle, a push waits %.1f ms (median), %.1f ms (maximum of 40)", name,
                waits[waits.count / 2], waits.last ?? 0))
    }

    func measure(_ what: String, _ count: Int, _ work: @Sendable () async throws -> Void) async throws {
        let start = ContinuousClock.now
        let (processor, server) = (clock(), OutboxBenchmark.serverSeconds())
        try await work()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let used = Double(clock() - processor) / Double(CLOCKS_PER_SEC)
        let served = OutboxBenchmark.serverSeconds() - server
        print(
            String(
                format: "%@: %@: %.1f s, %.0f per second, CPU µs each: ours %.1f, the server's %.1f; memory %d MB",
                name, what, seconds, Double(count) / seconds, used * 1e6 / Double(count), served * 1e6 / Double(count),
                OutboxBenchmark.memoryByteCount() / 1_000_000))
        fflush(nil)
    }
}

/// A transport that accepts everything.
private struct Taker: PushTransport {
    let times: AsyncStream<ContinuousClock.Instant>.Continuation?
    let gate: Gate?

    init(_ times: AsyncStream<ContinuousClock.Instant>.Continuation? = nil, gate: Gate? = nil) {
        self.times = times
        self.gate = gate
    }

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        times?.yield(.now)
        await gate?.pass()
        return .accepted(uniqueID: nil)
    }
}

/// Blocks all deliveries, or lets a number of them pass.
private actor Gate {
    private var left = 0
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var opener: CheckedContinuation<Void, Never>?

    func pass() async {
        if left == 0 { await withCheckedContinuation { waiters.append($0) } }
        left -= 1
        guard left == 0 else { return }
        opener?.resume()
        opener = nil
    }

    /// Returns once that many have passed.
    func open(for count: Int) async {
        left = count
        for waiter in waiters { waiter.resume() }
        waiters = []
        if left > 0 { await withCheckedContinuation { opener = $0 } }
    }
}

/// A session that holds an idle courier's lock and is notified each time, since it never wakes.
private struct Sleeper {
    private let process = Process()
    private let input = Pipe()

    init(at address: String) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/psql")
        process.arguments = ["-qAt", address]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        // "SPUB", as in PushPostgres.
        let words = "LISTEN sealed_push; SELECT pg_advisory_lock(1397773634, 1);\n"
        try input.fileHandleForWriting.write(contentsOf: Data(words.utf8))
        _ = try output.fileHandleForReading.read(upToCount: 1)
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
