import CoreFoundation
import Dispatch
import Foundation
import Glibc
import Interposed

/// Runs worlds, one after another, and tells which promises were broken.
@main struct Worlds {
    private let options: Options
    private var (worldCount, operationCount, jobCount, mostJobCount) = (0, 0, 0, 0)
    private var broken: [String: Int] = [:]

    static func main() throws {
        // The order in dictionaries must be the same in each process.
        if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", &arguments)
        }
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            FileHandle.standardError.write(Data(Options.usage.utf8))
            exit(64)
        }
        world_seed_libsodium()
        SeededExecutor.install()
        world_has_clock = 1
        world_wall_time = World.beginning * 1_000_000_000
        var worlds = Worlds(options: options)
        let isWhole = try worlds.run()
        World.removeFiles()
        exit(isWhole ? 0 : 1)
    }

    private init(options: Options) { self.options = options }

    /// Returns whether every promise was kept.
    private mutating func run() throws -> Bool {
        // What is made once for each process draws its random bytes here.
        _ = try World(Plan(seed: 0, operationCount: 40)).run()
        let start = realTime()
        Stopwatch.isRunning = options.showsTimes
        if let path = options.plan {
            try run(JSONDecoder().decode(Plan.self, from: Data(contentsOf: URL(filePath: path))))
        } else {
            var seed = options.seed
            repeat {
                try run(Plan(seed: seed, operationCount: options.operationCount))
                seed += 1
            } while options.seconds.map { realTime() - start < $0 } ?? (worldCount < options.count)
        }
        let seconds = max(realTime() - start, 0.001)
        if options.showsTimes { for line in Stopwatch.lines { say(line) } }
        say(
            String(
                format: """
                    %d worlds, %d operations, %d jobs (at most %d in one operation) in %.1f s: %.1f worlds and %.0f \
                    operations a second
                    """,
                worldCount, operationCount, jobCount, mostJobCount, seconds, Double(worldCount) / seconds,
                Double(operationCount) / seconds))
        for (promise, count) in broken.sorted(by: { $0.key < $1.key }) { say("broken in \(count) worlds: \(promise)") }
        return broken.isEmpty
    }

    private mutating func run(_ plan: Plan) throws {
        Self.watch(plan.seed)
        let world = try Stopwatch.measure(.ends) { try World(plan, logs: options.isVerbose || options.repeats) }
        let failure = world.run()
        worldCount += 1
        operationCount += plan.operations.count
        jobCount += SeededExecutor.shared.jobCount
        mostJobCount = max(mostJobCount, world.mostJobCount)
        if options.isVerbose { for line in world.log.map(\.line) { say(line) } }
        if options.repeats {
            let again = try World(plan, logs: true)
            _ = again.run()
            if world.log.map(\.line) != again.log.map(\.line) {
                broken["the same seed does the same", default: 0] += 1
                let place = zip(world.log, again.log).first { $0.line != $1.line }
                say("world \(plan.seed) differs: \(place?.0.line ?? "its length") / \(place?.1.line ?? "")")
            }
        }
        guard let failure else { return }
        broken[failure.promise, default: 0] += 1
        try tell(failure, of: plan)
    }

    /// Prints the shortest plan that breaks the promise, and its story.
    private func tell(_ failure: Oracle.Failure, of plan: Plan) throws {
        guard broken[failure.promise] ?? 0 <= 3 else { return }
        say("world \(plan.seed) (version \(Configuration.version), \(plan.operations.count) operations)")
        say("  broken: \(failure.promise)\(failure.details.isEmpty ? "" : ": \(failure.details)")")
        // Each promise is told once.
        guard options.shrinks, broken[failure.promise] == 1 else { return }
        let end = realTime() + 60
        var shrinking = Shrinking(plan, breaking: failure.promise) { realTime() < end }
        try shrinking.run()
        let world = try World(shrinking.plan, logs: true)
        let last = world.run()
        say("  the shortest plan found in \(shrinking.runCount) runs: \(shrinking.plan.configuration)")
        for (index, operation) in shrinking.plan.operations.enumerated() { say("  \(index + 1). \(operation)") }
        say("  what happened\(last?.message.map { " to message \($0)" } ?? ""):")
        for line in world.story(of: last?.message) { say("    \(line)") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(shrinking.plan), as: UTF8.self)
        say("  as a plan for --plan: \(text)")
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Names the world if the process traps in it.
    private static func watch(_ seed: UInt64) {
        let words = Array("world \(seed) ended the process\n".utf8.prefix(128))
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

/// The machine's uptime in seconds.
private func realTime() -> Double {
    let had = world_has_clock
    world_has_clock = 0
    defer { world_has_clock = had }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
