/// A histogram of waiting times, from `enqueue` to the service's response, by this host's clock.
public struct WaitingTimes: Hashable, Sendable {
    /// The number of times that are no longer than each of ``bounds``.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count)
    /// The total number of times.
    public private(set) var count = 0
    /// The sum of all times.
    public private(set) var sum = Duration.zero

    /// The upper bounds, from 10 ms to a day.
    public static let bounds: [Duration] =
        [10, 50, 100, 500].map { .milliseconds($0) }
        + [1, 5, 30, 60, 300, 900, 3_600, 21_600, 86_400].map { .seconds($0) }

    private static let longest = Duration.milliseconds(EnqueueOrder.lifetime)

    mutating func add(_ time: Duration) {
        count += 1
        // A damaged database may contain any time.
        sum += min(time, Self.longest)
        for (index, bound) in Self.bounds.enumerated() where time <= bound { counts[index] += 1 }
    }
}
