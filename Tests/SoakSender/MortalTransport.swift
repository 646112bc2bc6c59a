import Glibc
import PushAPNS
import PushCore
import PushSender

/// Delivers through APNs, and kills its own process at the worst moment: an answer is there, and nobody has noted it.
struct MortalTransport: PushTransport {
    private let apns: APNSTransport
    private let remaining: Locked<Int>?

    /// - Parameter count: the accepted push that is the last one; nil to live.
    init(_ apns: APNSTransport, dyingAfter count: Int?) {
        self.apns = apns
        remaining = count.map { Locked($0) }
    }

    func deliver(_ request: PushRequest) async throws(PushTransportError) -> PushOutcome {
        let answer = try await apns.deliver(request)
        guard let remaining, case .accepted = answer else { return answer }
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { kill(getpid(), SIGKILL) }
        return answer
    }
}
