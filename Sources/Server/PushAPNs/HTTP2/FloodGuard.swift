internal import NIOCore

/// Counts useless frames within 30 seconds. A peer may send any number in response to pushes, but not endlessly on its own.
/// A frame that ends a stream or begins a response isn't counted, because there's one for each push. APNs changes its
/// settings with each refusal, and a server may open its windows with each push. Such frames are cheap. Other frames also
/// count for their cost: one more for each 256 bytes, which also have to be decrypted. Each group of up to four header
/// fields or settings counts as one more, and a reply as three more.
struct FloodGuard {
    private var count = 0
    private var since = NIODeadline.uptimeNanoseconds(0)
    private var untakenAnswerCount = 0

    /// A push justifies some frames.
    mutating func pushed() { count = max(0, count - Self.framesForPush) }

    /// The peer may not know yet that a stream was abandoned, and may have sent a full window of data.
    mutating func gaveUp() { count = max(0, count - 2 * HTTP2Size.initialWindow / Self.unitByteCount) }

    /// Counts a frame by the size of its contents, its number of header fields or settings, and whether it needs a reply.
    mutating func took(
        _ byteCount: Int = 0, fieldCount: Int = 0, isQuestion: Bool = false, now: NIODeadline
    ) throws(ProtocolViolation) {
        if now - since >= Self.window {
            since = now
            count = 0
        }
        count += 1 + byteCount / Self.unitByteCount
        count += (fieldCount + Self.unitFieldCount - 1) / Self.unitFieldCount
        count += isQuestion ? Self.unitsForAnswer : 0
        guard count <= Self.limit else { throw ProtocolViolation(.enhanceYourCalm, "a flood of frames") }
    }

    /// Counts a reply. Otherwise, a peer that doesn't read could slowly request replies forever, and all of them would wait
    /// in memory. `isTaken` says whether everything written earlier has been sent, except for what the network delays.
    mutating func answered(isTaken: Bool) throws(ProtocolViolation) {
        untakenAnswerCount = isTaken ? 0 : untakenAnswerCount + 1
        try demand(untakenAnswerCount <= Self.untakenAnswerLimit, .enhanceYourCalm, "the peer doesn't read replies")
    }

    private static let framesForPush = 8
    private static let window: TimeAmount = .seconds(30)
    private static let limit = 10_000
    private static let unitByteCount = 256
    private static let unitFieldCount = 4
    private static let unitsForAnswer = 3
    private static let untakenAnswerLimit = 1_000
}
