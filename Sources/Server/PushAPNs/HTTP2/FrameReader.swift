internal import NIOCore

/// Splits received bytes into frames. Buffers at most one frame and one header block, of 16,384 bytes each. ``APNsConnection``
/// checks the state of streams. Source: RFC 9113, 4 and 6.
struct FrameReader {
    private var buffer = ByteBuffer()
    /// A header block whose end hasn't arrived.
    private var begun: (streamID: Int32, block: ByteBuffer, isLast: Bool, frameCount: Int)?
    private var hasSettings = false

    mutating func append(_ bytes: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            buffer.discardReadBytes()
            buffer.writeImmutableBuffer(bytes)
        }
    }

    /// Returns the next frame, or nil if it isn't complete yet.
    mutating func next() throws(ProtocolViolation) -> IncomingFrame? {
        while let header = try nextHeader() {
            guard buffer.readableBytes >= HTTP2Size.frameHeader + header.byteCount else { return nil }
            buffer.moveReaderIndex(forwardBy: HTTP2Size.frameHeader)
            guard let payload = buffer.readSlice(length: header.byteCount) else { return nil }
            if let frame = try frame(header, payload) { return frame }
        }
        return nil
    }

    private struct Header {
        let byteCount: Int
        let type: FrameType?
        let flags: UInt8
        let streamID: Int32

        func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
    }

    private mutating func nextHeader() throws(ProtocolViolation) -> Header? {
        let start = buffer.readerIndex
        guard let lengthAndType = buffer.getInteger(at: start, as: UInt32.self),
            let flags = buffer.getInteger(at: start + 4, as: UInt8.self),
            let streamID = buffer.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        let header = Header(
            byteCount: Int(lengthAndType >> 8), type: FrameType(rawValue: UInt8(truncatingIfNeeded: lengthAndType)),
            flags: flags, streamID: Int32(truncatingIfNeeded: streamID & 0x7fff_ffff))
        try demand(header.byteCount <= HTTP2Size.maximumPayload, .frameSizeError, "a frame that is too long")
        if !hasSettings {
            guard header.type == .settings, !header.has(FrameFlag.acknowledgement) else {
                throw ProtocolViolation(.protocolError, "a first frame other than SETTINGS")
            }
            hasSettings = true
        }
        if let begun, header.type != .continuation || header.streamID != begun.streamID {
            throw ProtocolViolation(.protocolError, "an interrupted header block")
        }
        return header
    }

    private mutating func frame(_ header: Header, _ payload: ByteBuffer) throws(ProtocolViolation) -> IncomingFrame? {
        var payload = payload
        switch header.type {
        case .headers: return try headers(header, payload)
        case .continuation: return try continuation(header, payload)
        case .data:
            try Self.require(onStream: true, header)
            try Self.removePadding(&payload, header)
            return .data(
                header.streamID, bytes: payload, flowControlledByteCount: header.byteCount,
                isLast: header.has(FrameFlag.endStream))
        case .resetStream:
            try Self.require(onStream: true, header)
            return .reset(header.streamID, ErrorCode(rawValue: try Self.only(&payload)))
        case .settings:
            try Self.require(onStream: false, header)
            return try Self.settings(header, payload)
        case .ping:
            try Self.require(onStream: false, header)
            let number: UInt64 = try Self.only(&payload)
            return header.has(FrameFlag.acknowledgement) ? .pingAnswer(number) : .ping(number)
        case .goAway:
            try Self.require(onStream: false, header)
            guard let last = payload.readInteger(as: UInt32.self), let code = payload.readInteger(as: UInt32.self)
            else { throw ProtocolViolation(.frameSizeError, "a GOAWAY frame that is too short") }
            return .goAway(
                lastStreamID: Int32(truncatingIfNeeded: last & 0x7fff_ffff), ErrorCode(rawValue: code), data: payload)
        case .windowUpdate:
            let number: UInt32 = try Self.only(&payload)
            try demand(number & 0x7fff_ffff > 0, .protocolError, "a window update of zero")
            return .windowUpdate(header.streamID, increment: Int(number & 0x7fff_ffff))
        case .pushPromise: throw ProtocolViolation(.protocolError, "a PUSH_PROMISE frame")
        case .priority:
            try Self.require(onStream: true, header)
            guard header.byteCount == 5 else { throw ProtocolViolation(.frameSizeError, "a malformed PRIORITY frame") }
            return .other(byteCount: header.byteCount)
        case nil: return .other(byteCount: header.byteCount)
        }
    }

    private mutating func headers(_ header: Header, _ payload: ByteBuffer) throws(ProtocolViolation) -> IncomingFrame? {
        var payload = payload
        try Self.require(onStream: true, header)
        try Self.removePadding(&payload, header)
        if header.has(FrameFlag.priority), payload.readBytes(length: 5) == nil {
            throw ProtocolViolation(.frameSizeError, "a HEADERS frame that is too short")
        }
        let isLast = header.has(FrameFlag.endStream)
        if header.has(FrameFlag.endHeaders) { return .headers(header.streamID, block: payload, isLast: isLast) }
        begun = (header.streamID, payload, isLast, 1)
        return nil
    }

    private mutating func continuation(
        _ header: Header, _ payload: ByteBuffer
    ) throws(ProtocolViolation) -> IncomingFrame? {
        guard var block = begun else { throw ProtocolViolation(.protocolError, "a CONTINUATION without HEADERS") }
        begun = nil
        block.block.writeImmutableBuffer(payload)
        block.frameCount += 1
        guard block.block.readableBytes <= HTTP2Size.maximumPayload, block.frameCount <= Self.maximumBlockFrameCount
        else { throw ProtocolViolation(.enhanceYourCalm, "an endless header block") }
        if header.has(FrameFlag.endHeaders) {
            return .headers(block.streamID, block: block.block, isLast: block.isLast)
        }
        begun = block
        return nil
    }

    private static func settings(_ header: Header, _ payload: ByteBuffer) throws(ProtocolViolation) -> IncomingFrame {
        var payload = payload
        if header.has(FrameFlag.acknowledgement) {
            try demand(header.byteCount == 0, .frameSizeError, "a SETTINGS acknowledgment with a payload")
            return .settingsAcknowledged
        }
        try demand(header.byteCount.isMultiple(of: 6), .frameSizeError, "a SETTINGS frame of the wrong size")
        // Room for each of the six settings, several times over.
        try demand(header.byteCount <= 6 * maximumSettingCount, .enhanceYourCalm, "too many settings in a frame")
        var settings = PeerSettings(sentCount: header.byteCount / 6)
        while let name = payload.readInteger(as: UInt16.self), let value = payload.readInteger(as: UInt32.self) {
            // RFC 9113, 6.5.2.
            switch name {
            case 1: settings.headerTableByteCounts.append(Int(value))
            case 2 where value != 0: throw ProtocolViolation(.protocolError, "a server that enables push")
            case 3: settings.streamLimit = Int(value)
            case 4:
                try demand(value <= HTTP2Size.maximumWindow, .flowControlError, "a window that is too large")
                settings.initialWindow = Int(value)
            case 5 where !(HTTP2Size.maximumPayload...0xff_ffff).contains(Int(value)):
                throw ProtocolViolation(.protocolError, "a frame size out of bounds")
            default: break
            }
        }
        return .settings(settings)
    }

    private static func require(onStream: Bool, _ header: Header) throws(ProtocolViolation) {
        try demand((header.streamID != 0) == onStream, .protocolError, "a frame with the wrong stream ID")
    }

    private static func removePadding(_ payload: inout ByteBuffer, _ header: Header) throws(ProtocolViolation) {
        guard header.has(FrameFlag.padded) else { return }
        guard let byteCount = payload.readInteger(as: UInt8.self), Int(byteCount) <= payload.readableBytes else {
            throw ProtocolViolation(.protocolError, "more padding than the frame holds")
        }
        payload.moveWriterIndex(to: payload.writerIndex - Int(byteCount))
    }

    /// Returns the payload, which must be a single number.
    private static func only<Number: FixedWidthInteger>(
        _ payload: inout ByteBuffer
    ) throws(ProtocolViolation) -> Number {
        guard let number = payload.readInteger(as: Number.self), payload.readableBytes == 0 else {
            throw ProtocolViolation(.frameSizeError, "a frame of the wrong size")
        }
        return number
    }

    /// A response's headers take about 200 bytes, in one frame.
    private static let maximumBlockFrameCount = 8
    /// Apple sends a few.
    private static let maximumSettingCount = 32
}

/// A frame that a server can send to a client, validated as far as possible on its own. Source: RFC 9113, 6.
enum IncomingFrame: Equatable {
    /// A whole header block, including its CONTINUATION frames.
    case headers(Int32, block: ByteBuffer, isLast: Bool)
    /// `flowControlledByteCount` includes the padding, which `bytes` doesn't.
    case data(Int32, bytes: ByteBuffer, flowControlledByteCount: Int, isLast: Bool)
    case reset(Int32, ErrorCode)
    case settings(PeerSettings)
    case settingsAcknowledged
    case ping(UInt64)
    case pingAnswer(UInt64)
    case goAway(lastStreamID: Int32, ErrorCode, data: ByteBuffer)
    /// For a stream, or for the connection if the ID is 0.
    case windowUpdate(Int32, increment: Int)
    /// A frame that we ignore: PRIORITY, or an unknown type.
    case other(byteCount: Int)
}

/// The settings of a SETTINGS frame that affect what we send. The last value of each one wins.
struct PeerSettings: Equatable {
    /// All values, because the smallest matters, too: the peer may have evicted entries. Source: RFC 7541, 4.2.
    var headerTableByteCounts: [Int] = []
    var streamLimit: Int?
    var initialWindow: Int?
    /// The number of settings in the frame, of any type.
    var sentCount = 0
}

enum FrameType: UInt8 {
    case data = 0
    case headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
}

enum FrameFlag {
    static let acknowledgement: UInt8 = 0x1
    static let endStream: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20
}

func demand(_ isKept: Bool, _ code: ErrorCode, _ what: StaticString) throws(ProtocolViolation) {
    guard isKept else { throw ProtocolViolation(code, what) }
}
