package import PushSender
public import SealedPush

/// What devices' receipts add up to, at one moment.
public struct ReceiptReport: Hashable, Sendable {
    /// Devices that have sent a receipt in this time. A device that rotates its key counts twice.
    public let deviceCount: Int
    /// Those of them that had something that did not open.
    public let failingDeviceCount: Int
    /// The same by reason: how many devices have said so, beside how often in ``ReceiptDay/failures``, which one device
    /// can raise by ``ReceiptDevice/maximumFailuresPerDay`` a day.
    public let failingDevices: [String: Int]
    /// Devices that are registered, for comparison: one where nothing opens sends no receipts.
    public let registeredDeviceCount: Int
    /// Days on which there was something, oldest first.
    public let days: [ReceiptDay]

    /// - Parameters:
    ///   - totals: a row with the columns `devices`, `failing` and `registered`.
    ///   - tallies: rows with the columns `day`, `outcome` and `count`.
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

    /// All days in one.
    public var total: ReceiptDay { Self.sum(days) }

    /// The days of one in one.
    public static func sum(_ days: some Collection<ReceiptDay>) -> ReceiptDay {
        days.dropFirst().reduce(into: days.first ?? ReceiptDay(number: 0)) { total, day in
            total.outcomes.merge(day.outcomes, uniquingKeysWith: +)
        }
    }
}

/// What came on one day, UTC, by the server's clock.
public struct ReceiptDay: Hashable, Sendable {
    /// The day's first second.
    public let start: Timestamp
    /// How often there was what, by the names of ``Tally`` and ``ReceiptTally``.
    fileprivate var outcomes: [String: Int] = [:]

    /// The bounds of the counts in ``shownWithin``, from the call of the extension.
    public static let speedLimits: [Duration] = [.milliseconds(250), .seconds(1), .seconds(5), .seconds(15)]

    /// - Parameter number: of days since 1970; one that no calendar has becomes the nearest.
    init(number: Int64) { start = Timestamp(clamping: min(max(number, 0), 1 << 40) * 86_400) }

    mutating func add(_ outcome: String, _ count: Int) { outcomes[outcome, default: 0] += count }

    /// Pushes that APNs has taken: what the shown ones are a part of. Devices that are off, or whose owner has switched
    /// notifications off, show nothing.
    public var acceptedCount: Int { outcomes[Tally.accepted] ?? 0 }
    /// Messages that were shown, each counted once.
    public var shownCount: Int { outcomes[ReceiptTally.shown] ?? 0 }
    /// Receipts that came again.
    public var repeatedCount: Int { outcomes[ReceiptTally.repeated] ?? 0 }
    /// What did not open, by its code; `other` for codes of a later version. Of one device, at most
    /// ``ReceiptDevice/maximumFailuresPerDay``.
    public var failures: [String: Int] { counts(of: ReceiptTally.failed("")) }
    /// Receipts that were not believed, by their code.
    public var refusals: [String: Int] { counts(of: ReceiptTally.refused("")) }
    /// All that did not open.
    public var failedCount: Int { failures.values.reduce(0, +) }
    /// All that were not believed.
    public var refusedCount: Int { refusals.values.reduce(0, +) }

    /// Of those shown, how many took so long, for each of ``speedLimits``; what took longer than all is in none.
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

/// What became of a receipt in an outbox.
public enum ReceiptOutcome: Hashable, Sendable {
    /// Counted now, and never again.
    case counted
    /// A receipt about the same message was counted before. Answer as to a counted one.
    case repeated
    /// Not counted: the device has had ``ReceiptDevice/maximumPerDay`` today. Answer 429, and it comes again another day.
    case tooMany
}

/// What one device has told.
public struct ReceiptDevice: Hashable, Sendable {
    public let last: Timestamp
    public let shownCount: Int
    public let failedCount: Int

    package init(_ row: some OutboxRow) throws(OutboxError) {
        last = try row.time("last")
        shownCount = try row.count("shown")
        failedCount = try row.count("failed")
    }

    /// 1,000 messages in a day, UTC: so that a single device's key does not fill the server's disk.
    public static let maximumPerDay = 1_000
    /// 1,000 of its pushes that did not open, in a day, UTC; what it says beyond that is left out: so that a single device's
    /// word does not drown all others' in the sums.
    public static let maximumFailuresPerDay = 1_000
}

extension ShownReceipt {
    /// What did not open, by reason, and how many of each are counted, up to the day's limit for one device.
    ///
    /// - Parameter before: how many were counted that day.
    package func countedFailures(before: Int) -> [(reason: String, count: Int)] {
        var left = max(0, ReceiptDevice.maximumFailuresPerDay - before)
        let all =
            failures.map { ($0.rawValue, $1) }.sorted { $0.0 < $1.0 } + [(ReceiptTally.otherReason, otherFailureCount)]
        return all.filter { $0.1 > 0 }.map { reason, count in
            defer { left -= min(count, left) }
            return (reason, min(count, left))
        }
    }
}

/// How receipts are counted, beside what became of pushes: the outcomes' names.
package enum ReceiptTally {
    /// The tables with a row by device.
    package static let tables = ["receipt_devices", "receipt_numbers", "receipt_failures"]
    /// What all of them begin with.
    static let prefix = "receipt:"
    package static let shown = prefix + "shown"
    package static let repeated = prefix + "repeated"
    package static let otherReason = "other"
    package static let tooMany = "too-many"
    package static func failed(_ reason: String) -> String { "\(prefix)failed:\(reason)" }
    package static func refused(_ reason: String) -> String { "\(prefix)refused:\(reason)" }

    /// The first limit that the time is not beyond.
    package static func speed(_ elapsed: Duration) -> String {
        let limit = ReceiptDay.speedLimits.first { elapsed <= $0 }
        return "\(prefix)within:\(limit.map { String($0.milliseconds) } ?? "more")"
    }
}
