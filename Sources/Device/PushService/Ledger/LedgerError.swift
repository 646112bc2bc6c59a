package enum LedgerError: Error, Equatable, Sendable {
    case replayed
    /// The ledger couldn't be written, or not in time.
    case unavailable
}
