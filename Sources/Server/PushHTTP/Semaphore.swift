internal import PushCore
internal import PushOutbox

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

/// A token bucket for each name: a burst of requests, and one more per interval. Thread-safe.
final class RateLimiter: Sendable {
    private let burst: Double
    private let interval: Duration
    private let maximumCount: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    private struct State {
        /// The key `nil` stands for all names for which there is no room.
        var buckets: [UserName?: Bucket] = [:]
        var lastSweep: ContinuousClock.Instant?
    }

    private struct Bucket {
        var left: Double
        var time: ContinuousClock.Instant

        func filled(at now: ContinuousClock.Instant, upTo burst: Double, every interval: Duration) -> Double {
            min(burst, left + (now - time) / interval)
        }
    }

    /// - Parameter maximumCount: The number of names to keep at once; the default takes about 10 MB.
    init(
        burst: Int, every interval: Duration = .seconds(1), maximumCount: Int = 100_000,
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.burst = Double(burst)
        self.interval = interval
        self.maximumCount = maximumCount
        self.clock = clock
    }

    /// Returns false if the name has to wait.
    func take(_ name: UserName) -> Bool {
        let now = clock()
        return state.withLock { state in
            if state.buckets.count >= maximumCount { sweep(&state, at: now) }
            let isKnown = state.buckets[name] != nil || state.buckets.count < maximumCount
            // Names for which there is no room share a bucket, so that arriving in a crowd gives no advantage.
            let owner = isKnown ? name : nil
            var left = state.buckets[owner]?.filled(at: now, upTo: burst, every: interval) ?? burst
            let isAllowed = left >= 1
            if isAllowed { left -= 1 }
            state.buckets[owner] = Bucket(left: left, time: now)
            return isAllowed
        }
    }

    /// Returns what a name took, because its request didn't count.
    func giveBack(_ name: UserName) {
        state.withLock { state in
            let owner = state.buckets[name] == nil ? nil : name
            if let bucket = state.buckets[owner] { state.buckets[owner]?.left = min(burst, bucket.left + 1) }
        }
    }

    /// Removes full buckets, which are equivalent to new ones. Runs at most once a second, since it visits all of them.
    private func sweep(_ state: inout State, at now: ContinuousClock.Instant) {
        if let last = state.lastSweep, now - last < .seconds(1) { return }
        state.lastSweep = now
        state.buckets = state.buckets.filter { $0.value.filled(at: now, upTo: burst, every: interval) < burst }
    }
}
