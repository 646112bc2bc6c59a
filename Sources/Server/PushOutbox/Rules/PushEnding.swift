/// The end of pushes, as a store counts it, for their messages and by day. Each push that was enqueued ends with exactly one
/// outcome.
///
/// A push ends when it stops waiting: it is accepted, removed, or becomes a dead letter. The transaction that takes it out
/// of the queue counts it. So a dead letter has ended, and nothing is counted when it's deleted, for whatever reason. When
/// it's requeued, its end is taken back. At each moment, the outcomes and the waiting pushes add up to those enqueued.
package struct PushEnding: Hashable, Sendable {
    package let outcome: String
    /// The time of the end, in milliseconds since 1970.
    package let time: Int64
    /// The number to add for each push: 1 for its end, or -1 to take it back.
    package let step: Int

    private init(_ outcome: String, at time: Int64, step: Int) {
        (self.outcome, self.time, self.step) = (outcome, time, step)
    }

    /// The end of pushes that are deleted now.
    package init(_ outcome: String, at now: Int64) { self.init(outcome, at: now, step: 1) }

    /// The end of pushes that become dead letters now.
    package init(burying reason: String, at now: Int64) { self.init(Tally.refused(reason), at: now, step: 1) }

    /// Takes back the end of dead letters that were buried at this time, on the day on which it was counted.
    package init(requeueing reason: String, buriedAt time: Int64) {
        self.init(Tally.refused(reason), at: time, step: -1)
    }

    /// The day under which the end is counted, since 1970.
    package var day: Int64 { Day(of: time).number }
}
