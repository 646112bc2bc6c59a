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
