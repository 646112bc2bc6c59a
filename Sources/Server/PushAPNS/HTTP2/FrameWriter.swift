internal import NIOCore

/// Writes frames one after the other, until they are sent together: each write of its own would be a TLS record and a call
/// into the system. Source: RFC 9113, 3.4 and 6.
struct FrameWriter {
    private(set) var bytes = ByteBuffer()

    var isEmpty: Bool { bytes.readableBytes == 0 }

    /// Forgets what was sent, and uses its memory again where nobody else still does.
    mutating func clear() { bytes.clear() }

    /// What a client begins with. No streams may be opened to it, and none is needed.
    mutating func preface(maximumHeaderByteCount: UInt32) {
        bytes.writeStaticString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        let settings: [(UInt16, UInt32)] = [(2, 0), (3, 0), (6, maximumHeaderByteCount)]
        frame(.settings, byteCount: settings.count * 6)
        for (name, value) in settings { bytes.writeMultipleIntegers(name, value) }
    }

    mutating func acknowledgeSettings() { frame(.settings, flags: FrameFlag.acknowledgement, byteCount: 0) }

    /// A header block that `write` appends: at most 16,384 bytes.
    mutating func headers(on streamID: Int32, _ write: (inout ByteBuffer) -> Void) {
        let start = bytes.writerIndex
        frame(.headers, flags: FrameFlag.endHeaders, on: streamID, byteCount: 0)
        write(&bytes)
        let byteCount = bytes.writerIndex - start - HTTP2Size.frameHeader
        precondition(byteCount <= HTTP2Size.maximumPayload, "a push's headers are a few hundred bytes")
        bytes.setInteger(UInt32(byteCount) << 8 | UInt32(FrameType.headers.rawValue), at: start)
    }

    mutating func data(_ data: ArraySlice<UInt8>, on streamID: Int32, isLast: Bool) {
        frame(.data, flags: isLast ? FrameFlag.endStream : 0, on: streamID, byteCount: data.count)
        bytes.writeBytes(data)
    }

    mutating func reset(_ streamID: Int32, _ code: ErrorCode) {
        frame(.resetStream, on: streamID, byteCount: 4)
        bytes.writeInteger(code.rawValue)
    }

    mutating func ping(_ number: UInt64, isAnswer: Bool = false) {
        frame(.ping, flags: isAnswer ? FrameFlag.acknowledgement : 0, byteCount: 8)
        bytes.writeInteger(number)
    }

    /// We process nothing of the server's, so there is no last stream.
    mutating func goAway(_ code: ErrorCode) {
        frame(.goAway, byteCount: 8)
        bytes.writeMultipleIntegers(UInt32(0), code.rawValue)
    }

    mutating func windowUpdate(_ increment: Int) {
        frame(.windowUpdate, byteCount: 4)
        bytes.writeInteger(UInt32(increment))
    }

    private mutating func frame(_ type: FrameType, flags: UInt8 = 0, on streamID: Int32 = 0, byteCount: Int) {
        bytes.writeMultipleIntegers(UInt32(byteCount) << 8 | UInt32(type.rawValue), flags, streamID)
    }
}

/// Counts frames that bring nothing, within 30 seconds: a peer may send as many as it likes in answer to pushes, but not without
/// end by itself. What ends a stream or begins an answer is not counted: there is one of it for each push.
///
/// APNs changes its settings with each refusal, and a server may open its windows with each push. Such frames are cheap to
/// read. Others count for what they cost besides: once more for each 256 bytes, which are decrypted, too, and for up to four
/// fields, which are header fields or settings; and three times more where they want an answer.
struct FloodGuard {
    private var count = 0
    private var since = NIODeadline.uptimeNanoseconds(0)
    private var untakenAnswerCount = 0

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

    /// We have answered a question. A peer that takes nothing may ask slowly, so that nothing else is a flood, and for
    /// ever, and each answer would wait in memory.
    ///
    /// - Parameter isTaken: whether what was written before has left, but for what a network holds up.
    mutating func answered(isTaken: Bool) throws(ProtocolViolation) {
        untakenAnswerCount = isTaken ? 0 : untakenAnswerCount + 1
        try demand(untakenAnswerCount <= Self.untakenAnswerLimit, .enhanceYourCalm, "questions, and no answer is read")
    }

    private static let framesForPush = 8
    private static let window: TimeAmount = .seconds(30)
    private static let limit = 10_000
    private static let unitByteCount = 256
    private static let unitFieldCount = 4
    private static let unitsForAnswer = 3
    private static let untakenAnswerLimit = 1_000
}
