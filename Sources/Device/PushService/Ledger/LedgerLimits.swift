enum LedgerLimits {
    static let maximumEntryCount = 20_000
    /// The part of a push's time budget that is left for writing if nothing else has used any.
    static let writeTime = ServiceRun.timeBudget - timeAfterwards
    /// The time that a slow ledger leaves for the rest. While the opened content is in memory, a write is worth waiting for.
    static let timeAfterwards = Duration.seconds(3)
}
