internal import PushCore

/// A semaphore that admits a fixed number of tasks at once; the others wait in order of arrival. Thread-safe.
final class Semaphore: Sendable {
    private let queue: Locked<Queue>

    private struct Queue {
        var freeCount: Int
        var cameCount = 0
        var waiting: ArraySlice<(number: Int, continuation: CheckedContinuation<Bool, Never>)> = []
    }

    init(_ count: Int) {
        precondition(count > 0, "a semaphore must admit at least one task")
        queue = Locked(Queue(freeCount: count))
    }

    var waitingCount: Int { queue.withLock { $0.waiting.count } }

    /// Returns when there is room. The caller must call ``leave()`` once.
    func enter() async { _ = await enter(within: nil) }

    /// Returns true when there is room, or false if the patience runs out first; in that case, don't call ``leave()``.
    func enter(within patience: Duration?) async -> Bool {
        var timer: Task<Void, Never>?
        let isIn = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let number = queue.withLock { queue -> Int? in
                guard queue.freeCount > 0 else {
                    queue.cameCount += 1
                    queue.waiting.append((queue.cameCount, continuation))
                    return queue.cameCount
                }
                queue.freeCount -= 1
                return nil
            }
            guard let number else { return continuation.resume(returning: true) }
            guard let patience else { return }
            timer = Task {
                try? await Task.sleep(for: patience)
                self.giveUp(number)
            }
        }
        timer?.cancel()
        return isIn
    }

    /// Admits the next task.
    func leave() {
        let next = queue.withLock { queue in
            let next = queue.waiting.popFirst()
            if next == nil { queue.freeCount += 1 }
            return next
        }
        next?.continuation.resume(returning: true)
    }

    private func giveUp(_ number: Int) {
        let waiting = queue.withLock { queue in
            queue.waiting.firstIndex { $0.number == number }.map { queue.waiting.remove(at: $0) }
        }
        waiting?.continuation.resume(returning: false)
    }
}

/// Runs one task for each key at a time, in order of arrival. Thread-safe.
final class KeyedMutex<Key: Hashable & Sendable>: Sendable {
    private let entries = Locked<[Key: Entry]>([:])

    private struct Entry {
        let semaphore = Semaphore(1)
        var userCount = 0
    }

    /// The number of tasks that are waiting for another one with the same key.
    var waitingCount: Int { entries.withLock { $0.values.reduce(0) { $0 + $1.semaphore.waitingCount } } }

    func run<Answer>(_ key: Key, _ work: () async throws -> Answer) async rethrows -> Answer {
        let semaphore = entries.withLock { entries in
            entries[key, default: Entry()].userCount += 1
            return entries[key, default: Entry()].semaphore
        }
        await semaphore.enter()
        defer {
            semaphore.leave()
            entries.withLock { entries in
                entries[key]?.userCount -= 1
                if entries[key]?.userCount == 0 { entries[key] = nil }
            }
        }
        return try await work()
    }
}
