public import SealedPush

/// A summary of devices' receipts at one moment.
public struct ReceiptReport: Hashable, Sendable {
    /// The number of devices that have sent a receipt in this period. A device that rotates its key counts twice.
    public let deviceCount: Int
    /// The number of those devices that reported a push that didn't open.
    public let failingDeviceCount: Int
    /// The number of devices that reported each reason. Compare ``ReceiptDay/failures``, which counts occurrences, and
    /// which one device can raise by ``ReceiptDevice/maximumFailuresPerDay`` a day.
    public let failingDevices: [String: Int]
    /// The number of registered devices, for comparison: a device on which no push opens sends no receipts.
    public let registeredDeviceCount: Int
    /// The days with receipts, oldest first.
    public let days: [ReceiptDay]

    /// `totals` has the columns `devices`, `failing`, and `registered`; `tallies` have `day`, `outcome`, and `count`.
    package init(
        _ totals: some OutboxRow, tallies: [some OutboxRow], failingDevices: [String: Int]
    ) throws(OutboxError) {
        deviceCount = try totals.count("devices")
        failingDeviceCount = try totals.count("failing")
        registeredDeviceCount = try totals.count("registered")
        self.failingDevices = failingDevices
        var days: [Int64: ReceiptDay] = [:]
        for tally in tallies {
            let day = try tally.int("day")
            days[day, default: ReceiptDay(number: day)].add(try tally.text("outcome"), try tally.count("count"))
        }
        self.days = days.values.sorted { $0.start < $1.start }
    }

    /// The sum of all days.
    public var total: ReceiptDay { Self.sum(days) }

    /// Returns the sum of the given days.
    public static func sum(_ days: some Collection<ReceiptDay>) -> ReceiptDay {
        days.dropFirst().reduce(into: days.first ?? ReceiptDay(number: 0)) { total, day in
            total.outcomes.merge(day.outcomes, uniquingKeysWith: +)
        }
    }
}

/// The receipts of one day, in UTC, by the server's clock.
public struct ReceiptDay: Hashable, Sendable {
    /// The day's first second.
    public let start: Timestamp
    /// The number of each outcome, by the names of ``Tally`` and ``ReceiptTally``.
    fileprivate var outcomes: [String: Int] = [:]

    /// The upper bounds for ``shownWithin``, measured from the call of the extension.
    public static let speedLimits: [Duration] = [.milliseconds(250), .seconds(1), .seconds(5), .seconds(15)]

    /// - Parameter number: The number of days since 1970, clamped to what a calendar can represent.
    init(number: Int64) { start = Timestamp(clamping: min(max(number, 0), 1 << 40) * 86_400) }

    mutating func add(_ outcome: String, _ count: Int) { outcomes[outcome, default: 0] += count }

    /// The number of pushes that APNs has accepted, to compare with the number shown. Devices that are off, or whose owner
    /// has turned notifications off, don't show them.
    public var acceptedCount: Int { outcomes[Tally.accepted] ?? 0 }
    /// The number of messages that were shown, each counted once.
    public var shownCount: Int { outcomes[ReceiptTally.shown] ?? 0 }
    /// The number of repeated receipts.
    public var repeatedCount: Int { outcomes[ReceiptTally.repeated] ?? 0 }
    /// The pushes that didn't open, by code; `other` for codes of a later version. At most
    /// ``ReceiptDevice/maximumFailuresPerDay`` for one device.
    public var failures: [String: Int] { counts(of: ReceiptTally.failed("")) }
    /// The receipts that were rejected, by code.
    public var refusals: [String: Int] { counts(of: ReceiptTally.refused("")) }
    /// The number of pushes that didn't open.
    public var failedCount: Int { failures.values.reduce(0, +) }
    /// The number of receipts that were rejected.
    public var refusedCount: Int { refusals.values.reduce(0, +) }

    /// For each of ``speedLimits``, how many messages were shown within that time. Slower ones aren't counted anywhere.
    public var shownWithin: [Duration: Int] {
        var counts: [Duration: Int] = [:]
        var count = 0
        for limit in Self.speedLimits {
            count += outcomes[ReceiptTally.speed(limit)] ?? 0
            if count > 0 { counts[limit] = count }
        }
        return counts
    }

    private func counts(of prefix: String) -> [String: Int] {
        Dictionary(
            outcomes.filter { $0.key.hasPrefix(prefix) }.map { (String($0.key.dropFirst(prefix.count)), $0.value) },
            uniquingKeysWith: +)
    }
}

/// The outcome of counting a receipt in an outbox.
public enum ReceiptOutcome: Hashable, Sendable {
    /// The receipt was counted now; it won't be counted again.
    case counted
    /// A receipt for the same message was counted before. Send the same response as for a counted one.
    case repeated
    /// Not counted: the device reached ``ReceiptDevice/maximumPerDay`` today. Respond with 429; it retries another day.
    case tooMany
}

/// The receipt counts of one device.
public struct ReceiptDevice: Hashable, Sendable {
    /// The time of the last receipt.
    public let last: Timestamp
    /// The number of messages shown.
    public let shownCount: Int
    /// The number of messages that didn't open.
    public let failedCount: Int

    package init(_ row: some OutboxRow) throws(OutboxError) {
        last = try row.time("last")
        shownCount = try row.count("shown")
        failedCount = try row.count("failed")
    }

    /// The maximum number of messages per day, in UTC, so that a single device's key can't fill the server's disk.
    public static let maximumPerDay = 1_000
    /// The maximum number of failures per day, in UTC, so that no device dominates the totals. Further ones are ignored.
    public static let maximumFailuresPerDay = 1_000
}

/// The names of the outcomes that receipts are counted under, alongside those of pushes.
package enum ReceiptTally {
    /// The tables with rows per device.
    package static let tables = ["receipt_devices", "receipt_numbers", "receipt_failures"]
    /// The common prefix of all names.
    static let prefix = "receipt:"
    package static let shown = prefix + "shown"
    package static let repeated = prefix + "repeated"
    package static let otherReason = "other"
    package static let tooMany = "too-many"
    package static func failed(_ reason: String) -> String { "\(prefix)failed:\(reason)" }
    package static func refused(_ reason: String) -> String { "\(prefix)refused:\(reason)" }

    /// Returns the name for the first limit that the time doesn't exceed.
    package static func speed(_ elapsed: Duration) -> String {
        let limit = ReceiptDay.speedLimits.first { elapsed <= $0 }
        return "\(prefix)within:\(limit.map { String($0.milliseconds) } ?? "more")"
    }
}
