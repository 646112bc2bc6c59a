internal import NIOCore

/// Collects frames to send together, because each write costs a TLS record and a system call. Source: RFC 9113, 3.4 and 6.
struct FrameWriter {
    private(set) var bytes = ByteBuffer()

    var isEmpty: Bool { bytes.readableBytes == 0 }

    /// Discards the sent bytes, and reuses their memory if possible.
    mutating func clear() { bytes.clear() }

    /// Writes the client preface. The server must not open streams.
    mutating func preface(maximumHeaderByteCount: UInt32) {
        bytes.writeStaticString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        let settings: [(UInt16, UInt32)] = [(2, 0), (3, 0), (6, maximumHeaderByteCount)]
        frame(.settings, byteCount: settings.count * 6)
        for (name, value) in settings { bytes.writeMultipleIntegers(name, value) }
    }

    mutating func acknowledgeSettings() { frame(.settings, flags: FrameFlag.acknowledgement, byteCount: 0) }

    /// Writes a header block of at most 16,384 bytes, which `write` appends.
    mutating func headers(on streamID: Int32, _ write: (inout ByteBuffer) -> Void) {
        let start = bytes.writerIndex
        frame(.headers, flags: FrameFlag.endHeaders, on: streamID, byteCount: 0)
        write(&bytes)
        let byteCount = bytes.writerIndex - start - HTTP2Size.frameHeader
        precondition(byteCount <= HTTP2Size.maximumPayload, "a push's headers must fit into one frame")
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

    /// We don't process anything from the server, so the last stream ID is 0.
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
