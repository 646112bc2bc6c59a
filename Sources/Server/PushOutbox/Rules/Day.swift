/// A day in UTC, by the server's clock. Outcomes and receipts are counted by day.
package struct Day: Hashable, Sendable {
    /// The number of days since 1970.
    package let number: Int64

    /// Creates the day of a time in milliseconds since 1970.
    package init(of time: Int64) { number = time / Self.milliseconds }

    /// Creates the first one of this many days, of which today is the last.
    package init(firstOf count: Int, at now: Int64) { number = Day(of: now).number - Int64(count) + 1 }

    /// The day's first millisecond since 1970.
    package var start: Int64 { number * Self.milliseconds }

    /// A day's length.
    package static let milliseconds: Int64 = 86_400_000
}
