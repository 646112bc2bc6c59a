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

    package init(
        deviceCount: Int, failingDeviceCount: Int, failingDevices: [String: Int], registeredDeviceCount: Int,
        days: [ReceiptDay]
    ) {
        self.deviceCount = deviceCount
        self.failingDeviceCount = failingDeviceCount
        self.failingDevices = failingDevices
        self.registeredDeviceCount = registeredDeviceCount
        self.days = days
    }

    /// All days in one.
    public var total: ReceiptDay { Self.sum(days) }

    /// The days of one in one.
    public static func sum(_ days: some Sequence<ReceiptDay>) -> ReceiptDay {
        var total: ReceiptDay?
        for day in days {
            if total == nil { total = day } else { total?.add(day) }
        }
        return total ?? ReceiptDay(number: 0)
    }
}

/// What came on one day, UTC, by the server's clock.
public struct ReceiptDay: Hashable, Sendable {
    /// The day's first second.
    public let start: Timestamp
    /// Pushes that APNs has taken: what the shown ones are a part of. Devices that are off, or whose owner has switched
    /// notifications off, show nothing.
    public package(set) var acceptedCount = 0
    /// Messages that were shown, each counted once.
    public private(set) var shownCount = 0
    /// Receipts that came again.
    public private(set) var repeatedCount = 0
    /// What did not open, by its code; `other` for codes of a later version. Of one device, at most
    /// ``ReceiptDevice/maximumFailuresPerDay``.
    public private(set) var failures: [String: Int] = [:]
    /// Receipts that were not believed, by their code.
    public private(set) var refusals: [String: Int] = [:]
    /// Of those shown, how many took so long, for each of ``speedLimits``; what took longer than all is in none.
    public private(set) var shownWithin: [Duration: Int] = [:]

    /// The bounds of the counts in ``shownWithin``, from the call of the extension.
    public static let speedLimits: [Duration] = [
        .milliseconds(250), .seconds(1), .seconds(5), .seconds(15),
    ]

    /// - Parameter number: of days since 1970; one that no calendar has becomes the nearest.
    package init(number: Int64) { start = Timestamp(clamping: min(max(number, 0), 1 << 40) * 86_400) }

    /// All that did not open.
    public var failedCount: Int { failures.values.reduce(0, +) }
    /// All that were not believed.
    public var refusedCount: Int { refusals.values.reduce(0, +) }

    package mutating func add(_ outcome: String, _ count: Int) {
        let parts = outcome.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case (ReceiptTally.shown, nil): shownCount += count
        case (ReceiptTally.repeated, nil): repeatedCount += count
        case ("failed", let reason?): failures[reason, default: 0] += count
        case ("refused", let reason?): refusals[reason, default: 0] += count
        case ("within", let limit?):
            guard let limit = Int64(limit) else { return }
            for bound in Self.speedLimits where bound >= .milliseconds(limit) {
                shownWithin[bound, default: 0] += count
            }
        default: break
        }
    }

    mutating func add(_ other: ReceiptDay) {
        acceptedCount += other.acceptedCount
        shownCount += other.shownCount
        repeatedCount += other.repeatedCount
        failures.merge(other.failures, uniquingKeysWith: +)
        refusals.merge(other.refusals, uniquingKeysWith: +)
        shownWithin.merge(other.shownWithin, uniquingKeysWith: +)
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

    package init(last: Timestamp, shownCount: Int, failedCount: Int) {
        self.last = last
        self.shownCount = shownCount
        self.failedCount = failedCount
    }

    /// 1,000 messages in a day, UTC: so that a single device's key does not fill the server's disk.
    public static let maximumPerDay = 1_000
    /// 1,000 of its pushes that did not open, in a day, UTC; what it says beyond that is left out: so that a single device's
    /// word does not drown all others' in the sums.
    public static let maximumFailuresPerDay = 1_000
}

/// How receipts are counted: the outcomes' names.
package enum ReceiptTally {
    package static let shown = "shown"
    package static let repeated = "repeated"
    package static let otherReason = "other"
    package static let tooMany = "too-many"
    package static func failed(_ reason: String) -> String { "failed:\(reason)" }
    package static func refused(_ reason: String) -> String { "refused:\(reason)" }

    /// The first limit that the time is not beyond.
    package static func speed(_ elapsed: Duration) -> String {
        let limit = ReceiptDay.speedLimits.first { elapsed <= $0 }
        return "within:\(limit.map { String($0.milliseconds) } ?? "more")"
    }
}
