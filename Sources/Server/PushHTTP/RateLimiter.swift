internal import PushCore

/// A token bucket for each name: a number of requests at once, and one more a second. Safe from many threads.
final class RateLimiter: Sendable {
    private let burst: Double
    private let maximumCount: Int
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let state = Locked(State())

    private struct State {
        var buckets: [String: Bucket] = [:]
        var lastSweep: ContinuousClock.Instant?
    }

    private struct Bucket {
        var left: Double
        var time: ContinuousClock.Instant

        func filled(at now: ContinuousClock.Instant, upTo burst: Double) -> Double {
            min(burst, left + (now - time) / .seconds(1))
        }
    }

    /// - Parameter maximumCount: the number of names to keep at once: some 10 MB.
    init(
        burst: Int, maximumCount: Int = 100_000, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.burst = Double(burst)
        self.maximumCount = maximumCount
        self.clock = clock
    }

    /// Returns false if the name has to wait.
    func take(_ name: String) -> Bool {
        let now = clock()
        return state.withLock { state in
            if state.buckets.count >= maximumCount { sweep(&state, at: now) }
            let isKnown = state.buckets[name] != nil || state.buckets.count < maximumCount
            // Names for which there is no room share a bucket: nobody gets more by coming in a crowd.
            let owner = isKnown ? name : Self.others
            var left = state.buckets[owner]?.filled(at: now, upTo: burst) ?? burst
            let isAllowed = left >= 1
            if isAllowed { left -= 1 }
            state.buckets[owner] = Bucket(left: left, time: now)
            return isAllowed
        }
    }

    /// Removes full buckets, which are as good as new. At most once a second, since it looks at all of them.
    private func sweep(_ state: inout State, at now: ContinuousClock.Instant) {
        if let last = state.lastSweep, now - last < .seconds(1) { return }
        state.lastSweep = now
        state.buckets = state.buckets.filter { $0.value.filled(at: now, upTo: burst) < burst }
    }

    /// No account has this name.
    private static let others = ""
}
