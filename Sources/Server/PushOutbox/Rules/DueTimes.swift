/// A range of due times in milliseconds since 1970, including both ends.
package struct DueTimes: Hashable, Sendable {
    package let first: Int64
    package let last: Int64

    /// Returns the times of queues that are due. A store looks into them in this order, and stops once it has found some.
    ///
    /// A due time is past, or it is further ahead than any of our delays. Such a time was recorded before the clock was set
    /// back. Nothing would be sent until the clock had reached it again.
    package static func searched(at now: Int64) -> [Self] {
        [Self(first: .min, last: now), Self(first: now + longestDelay + 1, last: .max)]
    }

    /// Returns the time until a queue is due. A damaged database may contain any number.
    package static func delay(until due: Int64, at now: Int64) -> Duration { .milliseconds(max(0, due) - now) }

    /// At least as long as any lease or back-off, in milliseconds.
    static let longestDelay: Int64 = Day.milliseconds
}
