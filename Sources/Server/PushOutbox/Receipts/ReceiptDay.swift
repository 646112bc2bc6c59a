public import SealedPush

/// The receipts of one day, in UTC, by the server's clock.
public struct ReceiptDay: Hashable, Sendable {
    /// The day's first second.
    public let start: Timestamp
    /// The number of each outcome, by the names of ``Tally`` and ``ReceiptTally``.
    var outcomes: [String: Int] = [:]

    /// The upper bounds for ``shownWithin``, measured from the call of the extension.
    public static let speedLimits: [Duration] = [.milliseconds(250), .seconds(1), .seconds(5), .seconds(15)]

    /// - Parameter number: The number of days since 1970, clamped to what a calendar can represent.
    init(number: Int64) { start = Timestamp(clamping: min(max(number, 0), 1 << 40) * 86_400) }

    mutating func add(_ outcome: String, _ count: Int) { outcomes[outcome, default: 0] += count }

    /// The number of pushes that the carrier has accepted, to compare with the number shown. Devices that are off, or whose owner
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
