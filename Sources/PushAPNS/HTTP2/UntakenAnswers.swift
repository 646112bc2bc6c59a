/// Counts answers to a peer that takes nothing: it may ask slowly, so that nothing else is a flood, and for ever, and each
/// answer would wait in memory.
struct UntakenAnswers {
    private var count = 0

    /// - Parameter isTaken: whether what was written before has left, but for what a network holds up.
    mutating func wrote(isTaken: Bool) throws(ProtocolViolation) {
        count = isTaken ? 0 : count + 1
        guard count <= Self.limit else { throw ProtocolViolation(.enhanceYourCalm, "questions, and no answer is read") }
    }

    private static let limit = 1_000
}
