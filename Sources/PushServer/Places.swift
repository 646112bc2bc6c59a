internal import PushOutbox
internal import _PushBase

/// So many at once; the others have their turns in the order in which they came. Safe from many threads.
final class Places: Sendable {
    private let queue: Locked<Queue>

    private struct Queue {
        var freeCount: Int
        var cameCount = 0
        var waiting: ArraySlice<Waiting> = []
    }

    private struct Waiting {
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    init(_ count: Int) {
        precondition(count > 0, "without a place nobody ever has a turn")
        queue = Locked(Queue(freeCount: count))
    }

    /// Those who have no place at this moment.
    var waitingCount: Int { queue.withLock { $0.waiting.count } }

    /// Returns when there is a place; then call ``leave()``, once.
    func enter() async { _ = await enter(within: nil) }

    /// The same; false where there was none in time, and then there is nothing to leave.
    ///
    /// - Parameter patience: returns when it is over, and soon where its task is cancelled. Called where there is no place at once.
    func enter(within patience: (@Sendable () async -> Void)?) async -> Bool {
        var timer: Task<Void, Never>?
        let hasPlace = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let number = queue.withLock { queue -> Int? in
                guard queue.freeCount > 0 else {
                    queue.cameCount += 1
                    queue.waiting.append(Waiting(number: queue.cameCount, continuation: continuation))
                    return queue.cameCount
                }
                queue.freeCount -= 1
                return nil
            }
            guard let number else { return continuation.resume(returning: true) }
            guard let patience else { return }
            timer = Task {
                await patience()
                self.giveUp(number)
            }
        }
        timer?.cancel()
        return hasPlace
    }

    /// Passes the place on to the next one.
    func leave() {
        let next = queue.withLock { queue in
            let next = queue.waiting.popFirst()
            if next == nil { queue.freeCount += 1 }
            return next
        }
        next?.continuation.resume(returning: true)
    }

    /// Nothing where it has its place already.
    private func giveUp(_ number: Int) {
        let waiting = queue.withLock { queue in
            queue.waiting.firstIndex { $0.number == number }.map { queue.waiting.remove(at: $0) }
        }
        waiting?.continuation.resume(returning: false)
    }
}

/// One at a time for each account, in the order of coming. Safe from many threads.
final class Turns: Sendable {
    private let waiting = Locked<[UserName: [CheckedContinuation<Void, Never>]]>([:])

    /// Those whose turn it is not.
    var waitingCount: Int { waiting.withLock { waiting in waiting.values.reduce(0) { $0 + $1.count } } }

    func take<Answer>(_ name: UserName, _ work: () async throws -> Answer) async throws -> Answer {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                guard waiting[name] != nil else {
                    waiting[name] = []
                    return true
                }
                waiting[name]?.append(continuation)
                return false
            }
            if isFirst { continuation.resume() }
        }
        defer {
            let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
                guard let first = waiting[name]?.first else {
                    waiting[name] = nil
                    return nil
                }
                waiting[name]?.removeFirst()
                return first
            }
            next?.resume()
        }
        return try await work()
    }
}
