import CoreFoundation
import Foundation
import Glibc
import Interposed
import PushCore
import SealedPush

@main struct Worlds {
    static func main() throws {
        // The order in dictionaries must be the same in each process.
        if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", &arguments)
        }
        var options = try Options(CommandLine.arguments.dropFirst())
        world_seed_libsodium()
        world_seed(options.seed)
        SeededExecutor.install()
        defer { World.removeFiles() }
        let start = realTime()
        world_has_clock = 1
        world_wall_time = 2_500_000_000 * 1_000_000_000
        var (count, operationCount, jobCount) = (0, 0, 0)
        var failures: [String: Int] = [:]
        repeat {
            let plan = Plan(seed: options.seed, operationCount: options.operationCount)
            watch(options.seed)
            let world = try World(plan, logs: options.isVerbose)
            let failure = world.run()
            count += 1
            operationCount += plan.operations.count
            jobCount += SeededExecutor.shared.jobCount
            if options.isVerbose { for (_, line) in world.log { print(line) } }
            if let failure {
                failures[failure.promise, default: 0] += 1
                print(
                    "world \(options.seed): \(failure.promise)\(failure.message.map { ", message \($0)" } ?? ""): \(failure.details)"
                )
            }
            options.seed += 1
        } while options.seconds.map { realTime() - start < $0 } ?? (count < options.count)
        let seconds = max(realTime() - start, 0.001)
        print(
            String(
                format: "%d worlds, %d operations, %d jobs, %.1f s: %.1f worlds and %.0f operations a second", count,
                operationCount,
                jobCount, seconds, Double(count) / seconds, Double(operationCount) / seconds))
        for (promise, count) in failures.sorted(by: { $0.key < $1.key }) { print("\(count) broken: \(promise)") }
        if !failures.isEmpty {
            World.removeFiles()
            exit(1)
        }
    }

    /// The machine's time.
    private static func realTime() -> Double {
        let had = world_has_clock
        world_has_clock = 0
        defer { world_has_clock = had }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Names the world if the process traps in it.
    private static func watch(_ seed: UInt64) {
        let words = Array("world \(seed) ended the process\n".utf8)
        for index in words.indices { message[index] = words[index] }
        messageCount = words.count
        for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT] {
            signal(number) { number in
                write(2, Worlds.message, Worlds.messageCount)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    nonisolated(unsafe) private static let message = UnsafeMutablePointer<UInt8>.allocate(capacity: 128)
    nonisolated(unsafe) private static var messageCount = 0
}

struct Options {
    var seed: UInt64 = 1
    var count = 1
    var seconds: Double?
    var operationCount = 500
    var isVerbose = false

    init(_ arguments: ArraySlice<String>) throws {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--minutes": seconds = rest.popFirst().flatMap(Double.init).map { $0 * 60 }
            case "--seconds": seconds = rest.popFirst().flatMap(Double.init)
            case "--count": count = rest.popFirst().flatMap { Int($0) } ?? 1
            case "--operations": operationCount = rest.popFirst().flatMap { Int($0) } ?? 500
            case "--verbose": isVerbose = true
            default: seed = UInt64(argument) ?? seed
            }
        }
    }
}
