internal import _PushBase

/// So many at once; the others have their turns in the order in which they came. Safe from many threads.
final class Places: Sendable {
    private let queue: Locked<Queue>

    private struct Queue {
        var freeCount: Int
        var waiting: ArraySlice<CheckedContinuation<Void, Never>> = []
    }

    init(_ count: Int) {
        precondition(count > 0, "without a place nobody ever has a turn")
        queue = Locked(Queue(freeCount: count))
    }

    /// Those who have no place at this moment.
    var waitingCount: Int { queue.withLock { $0.waiting.count } }

    /// Returns when there is a place; then call ``leave()``, once.
    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = queue.withLock { queue in
                guard queue.freeCount > 0 else {
                    queue.waiting.append(continuation)
                    return false
                }
                queue.freeCount -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    /// Passes the place on to the next one.
    func leave() {
        let next = queue.withLock { queue in
            let next = queue.waiting.popFirst()
            if next == nil { queue.freeCount += 1 }
            return next
        }
        next?.resume()
    }
}
