internal import NIOCore

/// Counts frames that bring nothing, within 30 seconds: a peer may send as many as it likes in answer to pushes, but not without
/// end by itself. What ends a stream or begins an answer is not counted: there is one of it for each push.
///
/// APNs changes its settings with each refusal, and a server may open its windows with each push.
struct FloodGuard {
    private var count = 0
    private var since = NIODeadline.uptimeNanoseconds(0)

    /// A push is a reason for some.
    mutating func pushed() { count = max(0, count - Self.framesForPush) }

    mutating func took(now: NIODeadline) throws(ProtocolViolation) {
        if now - since >= Self.window {
            since = now
            count = 0
        }
        count += 1
        guard count <= Self.limit else { throw ProtocolViolation(.enhanceYourCalm, "a flood of frames") }
    }

    private static let framesForPush = 4
    private static let window: TimeAmount = .seconds(30)
    private static let limit = 10_000
}
