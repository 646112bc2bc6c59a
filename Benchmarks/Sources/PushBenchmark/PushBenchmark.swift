import Foundation
import PushAPNS
import PushSender

/// Sends sealed pushes over one connection to a server that answers 200, and prints rate and CPU time for each.
///
/// Usage: push-benchmark PORT CERTIFICATE KEY TOKENS COUNT CONCURRENCY sealed|unsealed
/// TOKENS is a file with a device token a line; `unsealed` sends payloads that were sealed before the time is taken. The
/// output is one line: pushes a second, CPU microseconds a push, and
/// how many were not accepted.
@main
struct PushBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 8, let port = Int(arguments[1]), let count = Int(arguments[5]),
            let concurrency = Int(arguments[6])
        else {
            FileHandle.standardError.write(
                Data("usage: push-benchmark PORT CERTIFICATE KEY TOKENS COUNT CONCURRENCY sealed|unsealed\n".utf8))
            exit(64)
        }
        let file = try Data(contentsOf: URL(fileURLWithPath: arguments[4]))
        let devices = String(decoding: file, as: UTF8.self).split(separator: "\n").compactMap {
            DeviceToken(parsing: String($0)).map { Device(token: $0) }
        }
        let key = try ProviderKey(
            pem: Array(Data(contentsOf: URL(fileURLWithPath: arguments[3]))), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        var configuration = APNSConfiguration(
            endpoint: APNSEndpoint(host: "localhost", port: port), key: key,
            trustRoots: try TrustRoots(pem: Array(Data(contentsOf: URL(fileURLWithPath: arguments[2])))))
        configuration.limits.connectionCount = 1
        let apns = try APNSTransport(configuration)
        apns.trust(devices.map(\.token), topic: "com.example.app")
        let sender = Sealer(sender: SenderKey(), topic: "com.example.app", safeDefault: "You have a new message!")

        let seals = arguments[7] == "sealed"
        // Contexts are made, the connection is open.
        _ = try await run(apns, sender, devices, count: devices.count * 20, concurrency: concurrency, seals: seals)
        let start = ContinuousClock.now
        let cpuStart = cpuMicroseconds()
        let refusedCount = try await run(apns, sender, devices, count: count, concurrency: concurrency, seals: seals)
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let cpu = cpuMicroseconds() - cpuStart
        print(String(format: "%.0f %.2f %d", Double(count) / elapsed, cpu / Double(count), refusedCount))
        await apns.shutDown()
    }

    /// Each of `concurrency` tasks seals and sends, one push after the other.
    private static func run(
        _ apns: APNSTransport, _ sender: Sealer, _ devices: [Device], count: Int, concurrency: Int,
        seals: Bool
    ) async throws -> Int {
        let content = Content(title: "Nina", body: "Lunch at one? The usual place.")
        let ready = try devices.map { try sender.seal(content, toUnverified: $0.recipient) }
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<concurrency {
                group.addTask(executorPreference: apns.taskExecutor) {
                    var refusedCount = 0
                    for index in stride(from: worker, to: count, by: concurrency) {
                        let device = devices[index % devices.count]
                        let payload =
                            seals
                            ? try sender.seal(content, toUnverified: device.recipient) : ready[index % devices.count]
                        guard case .accepted = try await apns.deliver(PushRequest(payload, to: device.token)) else {
                            refusedCount += 1
                            continue
                        }
                    }
                    return refusedCount
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private struct Device: Sendable {
        let token: DeviceToken
        let recipient = Identity().recipient
    }

    private static func cpuMicroseconds() -> Double {
        var usage = rusage()
        // 0 is RUSAGE_SELF, which is an enum with glibc and a number elsewhere.
        getrusage(0, &usage)
        func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e6 + Double(time.tv_usec) }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }
}
