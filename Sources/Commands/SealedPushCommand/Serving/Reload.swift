internal import Dispatch
internal import PushCore

/// The parts of a service that it rereads at each SIGHUP. Each part has a thread of its own, so that a file that doesn't
/// respond, as on a hung mount, holds up only its own part. If a request comes while a part is being read, the part is read
/// once more afterward, since its file may have changed. Thread-safe.
final class Reload: Sendable {
    struct Part: Sendable {
        /// For messages.
        let name: String
        /// Rereads the part and puts it into use. Returns whether that succeeded.
        let read: @Sendable () -> Bool
    }

    /// How far one part is.
    private struct Progress {
        var isReading = false
        var isRequested = false
        var isLate = false
        var hasFailed = false
        var readingCount = 0

        /// Returns whether to read now.
        mutating func begin() -> Bool {
            isRequested = isReading
            guard !isReading else { return false }
            isReading = true
            readingCount += 1
            return true
        }

        /// Returns whether to read again.
        mutating func end(_ isRead: Bool) -> Bool {
            (isReading, isLate, hasFailed) = (false, false, !isRead)
            return isRequested && begin()
        }
    }

    private struct State {
        /// Empty until the service has started.
        var parts: [(part: Part, queue: DispatchQueue)] = []
        var progress: [Progress] = []
        var isRequested = false
    }

    private let state = Locked(State())
    private let after: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    private let onLate: @Sendable ([String]) -> Void
    private let onEnd: @Sendable () -> Void

    /// The names of the parts that are late now.
    var late: [String] { state.withLock { Self.late($0) } }

    /// How long a reading may take before it counts as late.
    static let patience = Duration.seconds(5)

    /// - Parameters:
    ///   - after: calls a closure after a time.
    ///   - onLate: called with the names of all late parts, each time these change.
    ///   - onEnd: called when all parts have been read successfully.
    init(
        after: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = Reload.schedule,
        onLate: @escaping @Sendable ([String]) -> Void, onEnd: @escaping @Sendable () -> Void
    ) {
        (self.after, self.onLate, self.onEnd) = (after, onLate, onEnd)
    }

    /// Starts to honor requests, including an earlier one: the file may have changed after the service read it.
    func start(_ parts: [Part]) {
        let isRequested = state.withLock { state in
            state.parts = parts.map { ($0, DispatchQueue(label: "reload of \($0.name)")) }
            state.progress = parts.map { _ in Progress() }
            return state.isRequested
        }
        if isRequested { request() }
    }

    /// Rereads all parts. Returns at once.
    func request() {
        let beginning = state.withLock { state in
            state.isRequested = true
            return state.progress.indices.filter { state.progress[$0].begin() }
        }
        for index in beginning { read(index) }
    }

    private func read(_ index: Int) {
        let (part, queue, number) = state.withLock {
            ($0.parts[index].part, $0.parts[index].queue, $0.progress[index].readingCount)
        }
        after(Self.patience) { self.checkProgress(of: index, number) }
        queue.async { self.end(index, part.read()) }
    }

    private func checkProgress(of index: Int, _ number: Int) {
        let names = state.withLock { state -> [String]? in
            guard state.progress[index].isReading, state.progress[index].readingCount == number else { return nil }
            state.progress[index].isLate = true
            return Self.late(state)
        }
        if let names { onLate(names) }
    }

    private func end(_ index: Int, _ isRead: Bool) {
        let (late, isAgain, isDone) = state.withLock { state -> ([String]?, Bool, Bool) in
            let wasLate = state.progress[index].isLate
            let isAgain = state.progress[index].end(isRead)
            let isDone = !state.progress.contains { $0.isReading || $0.hasFailed }
            return (wasLate ? Self.late(state) : nil, isAgain, isDone)
        }
        if let late { onLate(late) }
        if isAgain { read(index) } else if isDone { onEnd() }
    }

    private static func late(_ state: State) -> [String] {
        zip(state.parts, state.progress).filter(\.1.isLate).map(\.0.part.name)
    }

    @Sendable private static func schedule(_ time: Duration, _ call: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + time / .seconds(1), execute: call)
    }
}
