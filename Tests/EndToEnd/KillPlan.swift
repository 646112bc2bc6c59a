internal import TestSupport

/// When and how the sender is killed.
struct KillPlan: Sendable {
    /// Once the local APNs has seen so many pushes.
    let pushCount: Int
    let kind: Kind

    enum Kind: Sendable {
        /// From outside.
        case anyMoment
        /// By its own hand, when APNs has answered and before that is noted in the outbox.
        case afterAnswer
    }

    /// Both kinds by turns, at random moments of the first three fifths: the last sender is left enough to do to show that
    /// its memory does not grow.
    static func make(_ plan: RunPlan, _ random: inout SeededGenerator) -> [KillPlan] {
        let last = max(1, plan.messageCount * 3 / 5)
        let counts = (0..<plan.killCount).map { _ in Int.random(in: min(last, 20)...last, using: &random) }.sorted()
        return counts.enumerated().map { index, count in
            KillPlan(pushCount: count, kind: index.isMultiple(of: 2) ? .afterAnswer : .anyMoment)
        }
    }
}
