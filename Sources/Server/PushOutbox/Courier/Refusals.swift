import PushSender

/// Tells refusals of addresses from a mistake that concerns them all.
///
/// Where one push after another is refused for what may concern all, and none is taken, it is not the addresses: the wrong
/// environment, the wrong app. The run ends before all of them are disabled.
///
/// Addresses are what phones say. Once the carrier has taken pushes, one that it never took any for says nothing of all: else
/// whoever may register devices could end the delivery for everybody.
struct Refusals {
    /// Whether the carrier has taken a push of this outbox before: then environment, app and key are right.
    var isEstablished = false
    private let limit: Int
    /// Since the last push that was taken.
    private var count = 0

    init(endingAt limit: Int) { self.limit = limit }

    /// Why the run ends, if it does; then the push was not refused for its own sake.
    mutating func add(_ result: Result<PushOutcome, PushTransportError>, isProven: Bool) -> CourierError? {
        guard case .success(let outcome) = result else { return nil }
        switch outcome {
        case .accepted:
            count = 0
            isEstablished = true
            return nil
        case .gone, .stop: return nil
        case .refused(let reason), .later(_, let reason), .change(let reason):
            guard let problem = reason.problem, isProven || !isEstablished else { return nil }
            count += 1
            return count >= limit ? .allRefused(reason: reason.name, problem: problem) : nil
        }
    }
}
