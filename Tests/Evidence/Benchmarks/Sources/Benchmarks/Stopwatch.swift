import Foundation

/// Times named pieces of work in turn, round after round, so that a slow moment of the machine affects all of them.
struct Stopwatch {
    private var names: [String] = []
    private var microseconds: [String: [Double]] = [:]

    /// Runs `work` `count` times and records the average time.
    mutating func time(_ name: String, count: Int, _ work: () -> Void) {
        let start = ContinuousClock.now
        for _ in 0..<count { work() }
        let time = (ContinuousClock.now - start) / count
        let value = Double(time.components.seconds) * 1e6 + Double(time.components.attoseconds) / 1e12
        if microseconds[name] == nil { names.append(name) }
        microseconds[name, default: []].append(value)
    }

    /// Returns the times in microseconds, one value per round.
    func rounds(_ name: String) -> [Double] { microseconds[name] ?? [] }

    func median(_ name: String) -> Double {
        let sorted = rounds(name).sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    func report() {
        for name in names {
            let sorted = rounds(name).sorted()
            let text = String(format: "%8.2f µs (%.2f to %.2f)", median(name), sorted[0], sorted[sorted.count - 1])
            print("\(name.padding(toLength: 40, withPad: " ", startingAt: 0)) \(text)")
        }
    }
}
