import Interposed

/// Adds up the processor's time by what it was used for, if `--times` asks for that: reading the clock takes time, too.
enum Stopwatch {
    enum Part: String, CaseIterable {
        case extensions = "extensions"
        case rows = "transactions of the rows in memory"
        case oracle = "oracle"
        case ends = "beginnings and ends of worlds"
        case promises = "tasks after the last operation"
        case tasks = "tasks before: sealing, couriers, apps, and routes"
    }

    nonisolated(unsafe) static var isRunning = false { didSet { last = world_processor_time() } }
    nonisolated(unsafe) private static var part = Part.tasks
    nonisolated(unsafe) private static var last: Int64 = 0
    nonisolated(unsafe) private static var sums: [Part: Int64] = [:]

    /// Counts the time of a call for a part, and no longer for the one that calls.
    static func measure<Answer, Failure: Error>(
        _ part: Part, _ body: () throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        guard isRunning else { return try body() }
        let outer = Self.part
        change(to: part)
        defer { change(to: outer) }
        return try body()
    }

    /// Each part's share, the largest first.
    static var lines: [String] {
        change(to: part)
        let whole = max(1, sums.values.reduce(0, +))
        return sums.sorted { $0.value > $1.value }.map { "\(100 * $0.value / whole) % \($0.key.rawValue)" }
    }

    private static func change(to next: Part) {
        let now = world_processor_time()
        sums[part, default: 0] += now - last
        (part, last) = (next, now)
    }
}
