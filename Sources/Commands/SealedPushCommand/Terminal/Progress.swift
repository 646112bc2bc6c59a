internal import Foundation
internal import PushCore

/// What is being done, on standard error: from two seconds on, one line that changes at a terminal, else a line now and then.
struct Progress {
    private let start = ContinuousClock.now
    private let isTerminal = isatty(2) == 1
    private var last = ContinuousClock.now
    private var isShown = false

    mutating func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard now - start >= .seconds(2), now - last >= (isTerminal ? .milliseconds(500) : .seconds(10)) || !isShown
        else { return }
        last = now
        isShown = true
        write(isTerminal ? "\r\u{1b}[K\(text())" : "\(text())\n")
    }

    /// Takes the line away.
    mutating func end() {
        if isShown && isTerminal { write("\r\u{1b}[K") }
        isShown = false
    }

    /// `12,345`
    static func number(_ count: Int) -> String {
        let digits = String(count)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

/// Progress that a callback shows.
final class SharedProgress: Sendable {
    private let progress = Locked(Progress())

    func show(_ text: String) { progress.withLock { $0.show(text) } }

    func end() { progress.withLock { $0.end() } }
}
