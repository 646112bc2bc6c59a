/// The counters of signed records, which only rise: a device's in its records, an authority's in its sender sets.
package enum RecordCounter {
    /// One more than the last, and no less than the time in seconds since 1970. Source: Specification 11.1.5.
    ///
    /// The reason is what comes back from a backup, or from a copied folder: its last counter is older than what servers
    /// and apps have seen, and they refuse whatever counts less. The clock tells a higher one without asking them, as
    /// nobody signs more than once a second for long.
    package static func next(after last: UInt64?, at now: Timestamp) -> UInt64 {
        let (next, isOverflow) = (last ?? 0).addingReportingOverflow(1)
        return isOverflow ? .max : max(next, UInt64(now.secondsSince1970))
    }
}
