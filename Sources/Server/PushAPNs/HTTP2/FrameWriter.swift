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
