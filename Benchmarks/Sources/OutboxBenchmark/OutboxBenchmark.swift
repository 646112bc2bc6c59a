import Foundation
import PushOutbox
import PushSender

/// A registry of many devices: how fast a message to all of them is sealed and stored, how much memory and disk that takes, and
/// how fast leases are taken and completed by a transport that answers at once.
@main
struct OutboxBenchmark {
    static func main() async throws {
        let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1_000_000
        let folder = FileManager.default.temporaryDirectory.appending(path: "outbox-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "outbox.db").path
        let outbox = try Outbox(at: path)
        let progress = Task { await Self.reportProgress(of: path) }
        defer { progress.cancel() }

        let fill = try await measure("register, in one process", count) {
            try await register(count, in: outbox)
        }
        print("  of that, the file: \(fill.fileByteCount(path)) bytes, \(fill.fileByteCount(path) / count) a device")

        let sealer = Sealer(sender: SenderKey(), topic: "com.example.app", safeDefault: "You have a new message!")
        let content = Content(title: "Nina", body: String(repeating: "b", count: 80))
        let before = fill.fileByteCount(path)
        let first = try await measure("seal and enqueue for everyone, new recipients", count) {
            try await outbox.enqueue(
                content, to: .everyone, from: sealer, includingUnverified: true, key: IdempotencyKey("benchmark"))
        }
        print("  the file has grown by \((first.fileByteCount(path) - before) / count) bytes a message")

        let delivered = Counter()
        try await measure("lease, deliver at once, complete", count) {
            try await Courier(for: outbox, through: delivered).run(until: .empty)
        }
        _ = try await measure("status", 1) { _ = try await outbox.status() }
        print("highest memory of the process: \(peakMemoryByteCount() / 1_000_000) MB (floor: under 300 MB)")
    }

    /// Each device has keys of its own; making them is part of the time.
    private static func register(_ count: Int, in outbox: Outbox) async throws {
        var batch: [RegisteredDevice] = []
        for number in 0..<count {
            let hex = String(number, radix: 16)
            let token = String(repeating: "0", count: 64 - hex.count) + hex
            guard let name = DeviceName(parsing: "device-\(number)"),
                let user = UserName(parsing: "user-\(number / 2)"),
                let token = DeviceToken(parsing: token)
            else { continue }
            batch.append(
                RegisteredDevice(
                    name: name, user: user, topic: "com.example.app", keys: .unverified(Identity().recipient),
                    address: .active(.apns(token), registered: .now())))
            if batch.count == 1_000 || number == count - 1 {
                try await outbox.register(batch)
                batch.removeAll(keepingCapacity: true)
            }
        }
    }

    @discardableResult
    private static func measure(
        _ name: String, _ count: Int, _ work: @Sendable () async throws -> Void
    ) async throws -> Measured {
        let start = ContinuousClock.now
        let processor = processorSeconds()
        try await work()
        let time = ContinuousClock.now - start
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let used = processorSeconds() - processor
        print(
            String(
                format: "%@: %.1f s, %.0f a second, %.1f µs of a core each; memory %d MB", name, seconds,
                Double(count) / seconds, used * 1e6 / Double(count), memoryByteCount() / 1_000_000))
        return Measured()
    }

    /// On standard error, where the process stands: its memory is to stay flat while the file grows.
    private static func reportProgress(of path: String) async {
        let start = ContinuousClock.now
        while (try? await Task.sleep(for: .seconds(10))) != nil {
            let seconds = Int((ContinuousClock.now - start) / .seconds(1))
            let fileSize = Measured().fileByteCount(path) / 1_000_000
            let text = "  after \(seconds) s: file \(fileSize) MB, memory \(memoryByteCount() / 1_000_000) MB\n"
            FileHandle.standardError.write(Data(text.utf8))
        }
    }

    private struct Measured {
        func fileByteCount(_ path: String) -> Int {
            ["", "-wal"].reduce(0) { sum, suffix in
                let size = try? FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int
                return sum + (size ?? 0)
            }
        }
    }

    private static func processorSeconds() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

    private static func memoryByteCount() -> Int { kilobytes(of: "VmRSS:") * 1_000 }

    private static func peakMemoryByteCount() -> Int { kilobytes(of: "VmHWM:") * 1_000 }

    private static func kilobytes(of key: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
        return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }
}

/// A transport that takes everything.
private struct Counter: PushTransport {
    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome { .accepted(uniqueID: nil) }
}
