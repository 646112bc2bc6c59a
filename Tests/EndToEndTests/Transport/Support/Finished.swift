import PushCore

/// How many are done.
final class Finished: Sendable {
    private let done = Locked(0)

    func add() { done.withLock { $0 += 1 } }

    var count: Int { done.withLock { $0 } }
}
