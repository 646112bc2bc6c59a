package import SealedPush

/// The conditions by which an ``OutboxStatus`` counts rows. Stores count with SQL, which has the same limits.
package struct StatusCount: Hashable, Sendable {
    /// Milliseconds since 1970.
    package let now: Int64

    package init(at now: Int64) { self.now = now }

    /// Seconds since 1970.
    package var second: Int64 { now / 1_000 }
    /// A record that ends before this second expires soon: within 30 days.
    package var expiresSoon: Int64 { second + 30 * 86_400 }
    /// Outcomes of later days are counted.
    package var lastUncountedDay: Int64 { Day(of: now - EnqueueOrder.lifetime).number }
    /// For each age, the time before which older pushes were enqueued.
    package var ages: [(age: Duration, enqueued: Int64)] { OutboxStatus.ages.map { ($0, now - $0.milliseconds) } }

    /// Returns the time at which the next push is due, or now if it is due already.
    package func nextDue(_ due: Int64?) -> Timestamp? { due.map { Timestamp(clamping: max($0, now) / 1_000) } }
}
