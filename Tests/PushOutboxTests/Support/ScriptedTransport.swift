import Foundation
import PushAPNs
import PushCore
import PushSender
import TestSupport

/// Records the pushes that it is given, and gives scripted answers.
final class ScriptedTransport: PushTransport {
    typealias Answer = Result<PushOutcome, PushTransportError>

    let delivered = Collected<PushRequest>()
    private let answer: @Sendable (PushRequest, Int) async -> Answer
    private let counts = Locked<[String: Int]>([:])

    /// - Parameter answer: Answers a push, given how often it has arrived so far, from 1.
    init(_ answer: @escaping @Sendable (PushRequest, Int) async -> Answer = { _, _ in .accepted }) {
        self.answer = answer
    }

    /// Refuses each push in the same way until it has arrived more than the given number of times.
    convenience init(refusing status: Int, _ reason: String?, timestamp: Timestamp? = nil, times: Int = .max) {
        self.init { _, count in count > times ? .accepted : .apns(status, reason, timestamp: timestamp) }
    }

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        let count = counts.withLock { counts in
            counts[request.apnsID, default: 0] += 1
            return counts[request.apnsID, default: 0]
        }
        delivered.add(request)
        return try await answer(request, count).get()
    }
}

extension ScriptedTransport.Answer {
    static var accepted: Self { .success(.accepted(uniqueID: nil)) }

    static func apns(_ status: Int, _ reason: String?, timestamp: Timestamp? = nil) -> Self {
        .success(.apns(status, reason, timestamp: timestamp))
    }
}

extension PushOutcome {
    /// Returns the outcome of a refusal by APNs.
    static func apns(_ status: Int, _ reason: String?, timestamp: Timestamp? = nil) -> PushOutcome {
        APNsRefusal(status: status, reason: reason.map(APNsReason.init), timestamp: timestamp).outcome
    }
}
