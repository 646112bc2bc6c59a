internal import Foundation
internal import PushCore

/// Progress messages on standard error after two seconds: on a terminal, one updating line; otherwise, an occasional line.
final class Progress: Sendable {
    private let start = ContinuousClock.now
    private let isTerminal = isatty(2) == 1
    /// The time at which the line was last written; nil if there is no line.
    private let last = Locked<ContinuousClock.Instant?>(nil)

    func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard now - start >= .seconds(2) else { return }
        let pause: Duration = isTerminal ? .milliseconds(500) : .seconds(10)
        let isDue = last.withLock { last in
            guard last.map({ now - $0 >= pause }) ?? true else { return false }
            last = now
            return true
        }
        if isDue { write(isTerminal ? "\r\u{1b}[K\(text())" : "\(text())\n") }
    }

    /// Removes the line.
    func end() {
        let isShown = last.withLock { last in
            defer { last = nil }
            return last != nil
        }
        if isShown && isTerminal { write("\r\u{1b}[K") }
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
