import Foundation
import PushAPNS
import PushCore
import PushSender
import TestSupport

/// Notes what it is given and answers what it is told to.
final class ScriptedTransport: PushTransport {
    typealias Answer = Result<PushOutcome, PushTransportError>

    let delivered = Collected<PushRequest>()
    private let answer: @Sendable (PushRequest, Int) -> Answer
    private let counts = Locked<[String: Int]>([:])

    /// - Parameter answer: to a push, and how often it has come by now, from 1.
    init(_ answer: @escaping @Sendable (PushRequest, Int) -> Answer = { _, _ in .success(.accepted(uniqueID: nil)) }) {
        self.answer = answer
    }

    /// Refuses each push the same way, until it has come more than so many times.
    convenience init(refusing status: Int, _ reason: String?, timestamp: Timestamp? = nil, times: Int = .max) {
        self.init { _, count in
            count > times ? .success(.accepted(uniqueID: nil)) : .success(.apns(status, reason, timestamp: timestamp))
        }
    }

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        let count = counts.withLock { counts in
            counts[request.apnsID, default: 0] += 1
            return counts[request.apnsID, default: 0]
        }
        delivered.add(request)
        return try answer(request, count).get()
    }
}

extension PushOutcome {
    /// What a refusal by APNs means.
    static func apns(_ status: Int, _ reason: String?, timestamp: Timestamp? = nil) -> PushOutcome {
        APNSRefusal(status: status, reason: reason, timestamp: timestamp).outcome
    }
}
