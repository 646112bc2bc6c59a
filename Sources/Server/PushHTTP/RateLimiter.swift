internal import PushCore

/// A token bucket for each name: a burst of requests, and one more per interval. Thread-safe.
final class RateLimiter<Name: Hashable & Sendable>: Sendable {
    private let burst: Double
    private let interval: Duration
    private let maximumCount: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    private struct State {
        /// The key `nil` stands for all names for which there is no room.
        var buckets: [Name?: Bucket] = [:]
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
    func take(_ name: Name) -> Bool {
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
    func giveBack(_ name: Name) {
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
