internal import NIOCore

/// How long to wait before the next connection: doubled with each failure, half of it by chance, so that many servers
/// do not come back at once.
struct Backoff {
    private let first: TimeAmount
    private let longest: TimeAmount
    private(set) var failureCount = 0
    private(set) var until: NIODeadline?

    init(first: TimeAmount, longest: TimeAmount) {
        self.first = first
        self.longest = longest
    }

    func allows(_ now: NIODeadline) -> Bool { until.map { now >= $0 } ?? true }

    /// - Parameters:
    ///   - chance: from 0 up to 1.
    ///   - shortest: what the peer has asked for.
    mutating func failed(now: NIODeadline, chance: Double, atLeast shortest: TimeAmount = .zero) {
        let doublings = min(failureCount, 20)
        failureCount += 1
        let full = min(Double(first.nanoseconds) * Double(1 << doublings), Double(longest.nanoseconds))
        let jittered = full / 2 + full / 2 * chance
        until = now + .nanoseconds(max(Int64(jittered), shortest.nanoseconds))
    }

    /// A short wait, after the end of a connection that has worked for a while.
    mutating func rest(now: NIODeadline, chance: Double) {
        let full = Double(first.nanoseconds)
        until = max(until ?? now, now + .nanoseconds(Int64(full / 2 + full / 2 * chance)))
    }

    mutating func succeeded() {
        failureCount = 0
        until = nil
    }
}
