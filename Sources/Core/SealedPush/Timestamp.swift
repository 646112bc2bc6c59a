#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A time in whole seconds since 1970-01-01T00:00:00Z, from that time to the end of the year 9999.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// 0 to 253,402,300,799.
    public let secondsSince1970: Int64

    /// Returns nil outside the range.
    public init?(secondsSince1970 seconds: Int64) {
        guard (0...Self.maximum).contains(seconds) else { return nil }
        secondsSince1970 = seconds
    }

    /// Returns the system's time, rounded down to the second.
    public static func now() -> Timestamp { Timestamp(clamping: Int64(Date().timeIntervalSince1970.rounded(.down))) }

    /// Returns the time `seconds` later, or earlier if negative, clamped to the range.
    public func advanced(bySeconds seconds: Int64) -> Timestamp {
        let (sum, overflow) = secondsSince1970.addingReportingOverflow(seconds)
        return Timestamp(clamping: overflow ? (seconds < 0 ? 0 : Self.maximum) : sum)
    }

    /// Returns the number of seconds from another time to this one.
    public func seconds(since other: Timestamp) -> Int64 { secondsSince1970 - other.secondsSince1970 }

    public static func < (first: Timestamp, second: Timestamp) -> Bool {
        first.secondsSince1970 < second.secondsSince1970
    }

    package init(clamping seconds: Int64) { secondsSince1970 = min(max(seconds, 0), Self.maximum) }

    /// The end of the year 9999, in seconds.
    package static let maximum: Int64 = 253_402_300_799
}
