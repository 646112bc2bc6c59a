/// The pushes and records that a purge deletes.
package struct PurgePlan: Hashable, Sendable {
    /// The dead letters to delete, or `nil` for none.
    let deadLetters: PushCondition?
    /// The waiting pushes to delete, or `nil` for none, and the outcome to count them under.
    let entries: PushCondition?
    let outcome: String

    private init(deadLetters: PushCondition?, entries: PushCondition?, outcome: String = Tally.purged) {
        (self.deadLetters, self.entries, self.outcome) = (deadLetters, entries, outcome)
    }

    /// - Parameter time: The time at which a store deleted expired records, in milliseconds since 1970. `nil` if it didn't,
    ///   because the scope doesn't include them, or because the time is uncertain. Nothing has expired at an uncertain time.
    init(_ scope: PurgeScope, at time: Int64?) {
        switch scope {
        case .expired:
            let expired = time.map { PushCondition.expired(at: $0) }
            self.init(deadLetters: expired, entries: expired, outcome: Tally.expired)
        case .records: self.init(deadLetters: nil, entries: nil)
        case .deadLetters(let reason?): self.init(deadLetters: .reason(reason), entries: nil)
        case .deadLetters(nil): self.init(deadLetters: .anyReason(except: Tally.expired), entries: nil)
        case .sealed(let sealedBy):
            self.init(deadLetters: .sealed(by: sealedBy), entries: .sealed(by: sealedBy))
        case .everything: self.init(deadLetters: .all, entries: .all)
        }
    }
}

extension PurgeScope {
    /// Whether expired data other than pushes is deleted first.
    var includesRecords: Bool {
        switch self {
        case .expired, .records, .everything: true
        case .deadLetters, .sealed: false
        }
    }
}
