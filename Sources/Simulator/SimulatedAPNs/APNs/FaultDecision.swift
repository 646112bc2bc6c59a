/// The effect of the faults on one request.
struct FaultDecision {
    var refusal: LocalAPNsReason?
    var isDelivered = true
    var deliveryCount = 1
    var answer = Answer.given
    var latencyMilliseconds = 0

    enum Answer { case given, lost, reset }

    /// The fault's name for the log; nil if there is none.
    var name: String? {
        if refusal != nil { return "refused" }
        switch answer {
        case .lost: return "lost-response"
        case .reset: return "reset"
        case .given: return deliveryCount > 1 ? "duplicate" : nil
        }
    }
}
