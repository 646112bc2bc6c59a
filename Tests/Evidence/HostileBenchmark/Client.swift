import CoreMetrics
import Crypto
import Foundation
import HostilePeers
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PushAPNs
import PushCore
import PushSender
import SealedPush

/// Sends pushes continuously, with hostile connections alongside in every other time window. All connections share one
/// thread, as if they belonged to one transport.
struct Client {
    private static let concurrency = 100
    private static let topic: Topic = "com.example.app"

    private let folder: URL
    private let good: APNsTransport
    private let requests: [PushRequest]
    private let hostile: [(HostileDeed, APNsConfiguration)]
    private let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let state = Locked(State())

    private struct State {
        var acceptedCount = 0
        var otherCount = 0
        var isOver = false
    }

    init(_ folder: URL) throws {
        self.folder = folder
        let key = try ProviderKey(
            pem: Array(P256.Signing.PrivateKey().pemRepresentation.utf8), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        let roots = try TrustRoots(pem: Array(Data(contentsOf: folder.appending(path: "root.pem"))))
        func peers(_ name: String) throws -> [(String, APNsConfiguration)] {
            try String(contentsOf: folder.appending(path: name), encoding: .utf8).split(separator: "\n").map { line in
                let words = line.split(separator: " ")
                let endpoint = APNsEndpoint(host: "localhost", port: Int(words[1]) ?? 0)
                return (String(words[0]), APNsConfiguration(endpoint: endpoint, key: key, trustRoots: roots))
            }
        }
        hostile = try peers("hostile").compactMap { name, configuration in
            HostileDeed(rawValue: name).map { ($0, configuration) }
        }
        var configuration = try peers("good")[0].1
        configuration.limits.connectionCount = 1
        good = try APNsTransport(
            configuration, logger: Logger(label: "good") { _ in SwiftLogNoOpLogHandler() },
            metrics: NOOPMetricsHandler.instance, eventLoop: eventLoop, clock: TransportClock())
        let sealer = Sealer(sender: SenderPrivateKey(), topic: Self.topic, safeDefault: "You have a new message!")
        requests = try (1...100).map { number in
            let digits = String(number, radix: 16)
            let token = DeviceToken(parsing: String(repeating: "0", count: 64 - digits.count) + digits)
            let payload = try sealer.seal(
                Content(title: "Nina", body: "Lunch?"), toUnverified: DevicePrivateKey().recipient)
            return PushRequest(payload, to: .apns(token ?? DeviceToken(parsing: "00")!))
        }
        good.trust(requests.map { $0.address }, topic: Self.topic)
    }

    /// Returns whether each good push was accepted, each hostile connection ended, and rate and memory met their floors.
    func run(seconds: Int, rounds: Int, connections: Int) async throws -> Bool {
        _ = MemoryPeak.take()
        let load = Task { await send() }
        // Warm up.
        try await Task.sleep(for: .seconds(2))
        var ratios: [(rate: Double, room: Double)] = []
        var ends: [String: Int] = [:]
        let quietMemory = MemoryPeak.take()
        for round in 1...rounds {
            let quiet = try await window(seconds) {}
            let victims = try (0..<connections).map { number in
                let (deed, configuration) = hostile[number % hostile.count]
                return try Victim(deed, configuration, on: eventLoop)
            }
            let (request, collected) = (requests[0], Locked([String]()))
            var suffering: [Task<Void, Never>] = []
            let beside = try await window(seconds) {
                suffering = victims.map { victim in
                    Task {
                        let end = await victim.suffer(request)
                        collected.withLock { $0.append("\(victim.deed.rawValue)\t\(end)") }
                    }
                }
            }
            for task in suffering { await task.value }
            for end in collected.withLock({ $0 }) { ends[end, default: 0] += 1 }
            ratios.append((beside.rate / quiet.rate, beside.room(at: quiet.cost)))
            print("round \(round): \(quiet.text) alone; \(beside.text) alongside \(connections) hostile connections")
        }
        state.withLock { $0.isOver = true }
        await load.value
        await good.shutDown()
        let lines = ends.sorted { $0.key < $1.key }.map { "\($0.value)\t\($0.key)\n" }
        try Data(lines.joined().utf8).write(to: folder.appending(path: "ends"), options: .atomic)

        func median(_ values: [Double]) -> Double { values.sorted()[(values.count - 1) / 2] }
        let (rate, room) = (median(ratios.map { $0.rate }), median(ratios.map { $0.room }))
        let besideMemory = MemoryPeak.take()
        let otherCount = state.withLock { $0.otherCount }
        let openCount = ends.filter { $0.key.hasSuffix("still open") }.values.reduce(0, +)
        print(
            String(
                format: "push rate alongside them / alone: %.2f; share of a core left for pushes: %.2f"
                    + "   floor for the rate: 0.90", rate, room))
        print(
            "the client's peak memory: \(quietMemory / 1_000_000) MB alone, \(besideMemory / 1_000_000) MB alongside "
                + "them   floor: at most 100 MB more")
        print("good pushes not accepted: \(otherCount); hostile connections still open: \(openCount)   floor: 0")
        return rate >= 0.9 && besideMemory - quietMemory <= 100_000_000 && otherCount == 0 && openCount == 0
    }

    private func send() async {
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<Self.concurrency {
                group.addTask(executorPreference: good.taskExecutor) {
                    let request = requests[worker % requests.count]
                    while !state.withLock({ $0.isOver }) {
                        let answer = try? await good.deliver(request)
                        state.withLock { state in
                            if case .accepted? = answer { state.acceptedCount += 1 } else { state.otherCount += 1 }
                        }
                    }
                }
            }
        }
    }

    // MARK: Measuring

    private struct Window {
        let count: Int
        let seconds: Double
        let cpuMicroseconds: Double

        var rate: Double { Double(count) / seconds }
        /// The CPU time per push, in microseconds.
        var cost: Double { cpuMicroseconds / Double(max(1, count)) }
        /// The share of a core that other work left for pushes, if each push costs this CPU time.
        func room(at cost: Double) -> Double { 1 - max(0, cpuMicroseconds - Double(count) * cost) / (seconds * 1e6) }
        var text: String { String(format: "%.0f/s, %.2f µs CPU each", rate, cost) }
    }

    private func window(_ seconds: Int, _ begin: () -> Void) async throws -> Window {
        let (start, cpuStart) = (ContinuousClock.now, Self.processorTime())
        let countStart = state.withLock { $0.acceptedCount }
        begin()
        try await Task.sleep(for: .seconds(seconds))
        return Window(
            count: state.withLock { $0.acceptedCount } - countStart,
            seconds: (ContinuousClock.now - start) / .seconds(1), cpuMicroseconds: Self.processorTime() - cpuStart)
    }

    /// Returns this process's CPU time, in microseconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

/// This process's peak resident memory since the last call. Source: proc_pid_clear_refs(5).
enum MemoryPeak {
    /// Returns the peak in bytes and resets it.
    static func take() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1_024 } ?? 0
    }
}

/// Servers in a separate process, so that their CPU time and memory don't count as the client's.
struct Servers {
    private let deeds: [HostileDeed?]
    private let folder: URL

    init(_ deeds: [HostileDeed?], in folder: URL) {
        self.deeds = deeds
        self.folder = folder
    }

    /// Runs until SIGTERM. Writes a file with each server's port and, at the end, one with the bytes that it sent.
    func run(sayingTo name: String) async throws {
        func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path("server.pem")).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: path("server.key"), format: .pem)))
        configuration.applicationProtocols = ["h2"]
        let tls = try NIOSSLContext(configuration: configuration)
        var servers: [(deed: HostileDeed?, server: HostileServer)] = []
        for deed in deeds { servers.append((deed, try await HostileServer(deed, tls: tls))) }
        let ports = servers.map { "\($0.deed?.rawValue ?? "good") \($0.server.port)\n" }.joined()
        try Data(ports.utf8).write(to: folder.appending(path: name), options: .atomic)

        await ended()
        let totals = servers.map { deed, server in
            "\(deed?.rawValue ?? "good") \(server.seen.endCount) \(server.seen.byteCount)\n"
        }.joined()
        try Data(totals.utf8).write(to: folder.appending(path: "\(name).sent"), options: .atomic)
    }

    private func ended() async {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM)
        await withCheckedContinuation { continuation in
            source.setEventHandler { continuation.resume() }
            source.resume()
        }
        source.cancel()
    }
}

/// One connection to a hostile server, with the client that `sealedpush work` uses.
struct Victim: Sendable {
    let deed: HostileDeed
    private let transport: APNsTransport
    private let log = CollectedLog()

    init(_ deed: HostileDeed, _ configuration: APNsConfiguration, on eventLoop: any EventLoop) throws {
        self.deed = deed
        var configuration = configuration
        // Shorten deadlines so that a round doesn't take half a minute.
        if deed.waitsForReset { configuration.deadlines.request = .seconds(2) }
        if deed == .silence {
            configuration.deadlines.pingWhileBusy = .seconds(1)
            configuration.deadlines.ping = .seconds(1)
        }
        let log = log
        transport = try APNsTransport(
            configuration, logger: Logger(label: "victim") { _ in log }, metrics: NOOPMetricsHandler.instance,
            eventLoop: eventLoop, clock: TransportClock())
    }

    /// Sends a push. Returns how it ended and why its connection closed, or `still open` if it hasn't ten seconds later.
    func suffer(_ request: PushRequest) async -> String {
        var end: String
        do {
            switch try await transport.answer(to: request) {
            case .accepted: end = "accepted"
            case .refused(let refusal): end = "refused: \(refusal.status)"
            }
        } catch {
            end = "\(error)"
            if case .connectionLost = error { end = "connectionLost" }
        }
        for _ in 0..<100 where log.closingReason == nil { try? await Task.sleep(for: .milliseconds(100)) }
        let reason = log.closingReason ?? "still open"
        await transport.shutDown()
        return "\(end); \(reason)"
    }
}
