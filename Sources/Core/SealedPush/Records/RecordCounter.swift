/// The increasing counters of signed records: a device's in its records, an authority's in its sender sets.
package enum RecordCounter {
    /// Returns one more than the last counter, but at least the time in seconds since 1970. Source: Specification 11.1.5.
    /// The time is needed after a restored backup or copied folder. Its last counter is older than the one that servers and
    /// apps have seen, and they reject lower counters. The clock provides a higher one without asking them, since no one
    /// signs more than once per second for long. After the maximum, returns one that no list can have.
    package static func next(after last: UInt64?, at now: Timestamp) -> UInt64 {
        let next = min(last ?? 0, maximum) + 1
        return max(next, UInt64(now.secondsSince1970))
    }

    /// The highest counter of a list. A leaving may have one more, so that it outranks every record.
    package static let maximum: UInt64 = 1 << 62 - 1
}
