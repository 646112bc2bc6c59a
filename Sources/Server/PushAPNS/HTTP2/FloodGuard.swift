internal import NIOCore

/// Counts frames that bring nothing, within 30 seconds: a peer may send as many as it likes in answer to pushes, but not without
/// end by itself. What ends a stream or begins an answer is not counted: there is one of it for each push.
///
/// APNs changes its settings with each refusal, and a server may open its windows with each push. Such frames are cheap to
/// read. Others count for what they cost besides: once more for each 256 bytes, which are decrypted, too, and for up to four
/// fields, which are header fields or settings; and three times more where they want an answer.
struct FloodGuard {
    private var count = 0
    private var since = NIODeadline.uptimeNanoseconds(0)

    /// A push is a reason for some.
    mutating func pushed() { count = max(0, count - Self.framesForPush) }

    /// A stream was given up: the peer has not heard of it yet, and may have sent as much as its window holds.
    mutating func gaveUp() { count = max(0, count - 2 * HTTP2Size.initialWindow / Self.unitByteCount) }

    /// - Parameters:
    ///   - byteCount: how much there is in the frame.
    ///   - fieldCount: how many header fields or settings.
    ///   - isQuestion: whether we answer it.
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

    private static let framesForPush = 8
    private static let window: TimeAmount = .seconds(30)
    private static let limit = 10_000
    private static let unitByteCount = 256
    private static let unitFieldCount = 4
    private static let unitsForAnswer = 3
}

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
