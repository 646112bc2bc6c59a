import Foundation
import PushCore

/// Divides the time and the memory that this process has used among the steps until a message is shown. Thread-safe.
final class CostMeter: Sendable {
    enum Step: String, CaseIterable, Codable {
        /// From the start of the process to the system's call: the libraries, and the wait for the message.
        case loading
        /// The keychain, and what follows from a key's secret.
        case keys
        /// The configuration, the envelope, the cryptography, and the content.
        case opening
        case ledger
        /// The log, the notification's content, and the number on the icon.
        case display
    }

    struct Cost: Codable {
        var milliseconds = 0.0
        /// The growth of the process's own memory: anonymous and resident, as iOS counts it.
        var byteCount = 0
    }

    fileprivate struct State {
        var step = Step.loading
        var start: Double
        var byteCount = 0
        var costs: [Step: Cost] = [:]
    }

    private let state: Locked<State>

    /// - Parameter start: The start of the first step, in ``now``'s time.
    init(since start: Double) { state = Locked(State(start: start)) }

    /// Ends a step and begins another. Returns the step that ended.
    @discardableResult func begin(_ step: Step) -> Step {
        state.withLock { state in
            let ended = state.step
            state.count(until: Self.now)
            state.step = step
            // Leave out the time that counting takes.
            state.start = Self.now
            return ended
        }
    }

    /// Ends the last step, and returns the cost of each.
    func finish() -> [Step: Cost] {
        state.withLock { state in
            state.count(until: Self.now)
            return state.costs
        }
    }

    /// The monotonic clock, which all processes share, in milliseconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
}

extension CostMeter.State {
    mutating func count(until now: Double) {
        let byteCount = Self.ownByteCount
        costs[step, default: CostMeter.Cost()].milliseconds += now - start
        costs[step, default: CostMeter.Cost()].byteCount += byteCount - self.byteCount
        self.byteCount = byteCount
    }

    /// Resident pages that aren't shared. Source: proc_pid_statm(5).
    private static var ownByteCount: Int {
        var text = [UInt8](repeating: 0, count: 128)
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        let count = read(file, &text, text.count)
        close(file)
        precondition(count > 0, "/proc/self/statm can't be read")
        let fields = String(decoding: text.prefix(count), as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        return (fields[1] - fields[2]) * sysconf(Int32(_SC_PAGESIZE))
    }
}
