internal import NIOCore

/// What a server may send to a client, checked as far as one frame by itself can be. Source: RFC 9113, 6.
enum IncomingFrame: Equatable {
    /// A whole header block, its CONTINUATION frames joined.
    case headers(Int32, block: ByteBuffer, isLast: Bool)
    /// `flowControlledByteCount` counts the padding too, which is gone from `bytes`.
    case data(Int32, bytes: ByteBuffer, flowControlledByteCount: Int, isLast: Bool)
    case reset(Int32, ErrorCode)
    /// What holds after the frame: of each setting one value, and of the header table's size the smallest before it. The frame
    /// may have had more, of all kinds.
    case settings([PeerSetting], sentCount: Int)
    case settingsAcknowledged
    case ping(UInt64)
    case pingAnswer(UInt64)
    case goAway(lastStreamID: Int32, ErrorCode, data: ByteBuffer)
    /// Of a stream, or of the connection where the ID is 0.
    case windowUpdate(Int32, increment: Int)
    /// Says nothing to us: PRIORITY, and types that we do not know.
    case other(byteCount: Int)
}

/// A setting of the peer's that steers what we send.
enum PeerSetting: Equatable {
    case headerTableByteCount(Int)
    case streamLimit(Int)
    case initialWindow(Int)
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

/// Sizes that RFC 9113 fixes, or that hold because we announce nothing else.
enum HTTP2Size {
    static let frameHeader = 9
    static let maximumPayload = 16_384
    static let initialWindow = 65_535
    static let maximumWindow = 0x7fff_ffff
    static let headerTable = 4_096
}

/// Why an HTTP/2 stream or connection ends, as it is sent. Source: RFC 9113, 7.
struct ErrorCode: RawRepresentable, Hashable {
    let rawValue: UInt32

    static let noError = ErrorCode(rawValue: 0)
    static let protocolError = ErrorCode(rawValue: 1)
    static let flowControlError = ErrorCode(rawValue: 3)
    static let streamClosed = ErrorCode(rawValue: 5)
    static let frameSizeError = ErrorCode(rawValue: 6)
    static let refusedStream = ErrorCode(rawValue: 7)
    static let cancel = ErrorCode(rawValue: 8)
    static let compressionError = ErrorCode(rawValue: 9)
    static let enhanceYourCalm = ErrorCode(rawValue: 11)

    /// As in the RFC.
    var name: String { rawValue < Self.names.count ? Self.names[Int(rawValue)] : "error \(rawValue)" }

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}

/// The peer has broken HTTP/2's rules: its connection ends with this code.
struct ProtocolViolation: Error, Equatable {
    let code: ErrorCode
    /// What it did, in words of ours.
    let what: String

    init(_ code: ErrorCode, _ what: StaticString) {
        self.code = code
        self.what = "\(what)"
    }
}

/// Streams that we have given up, and whose answers may still be on their way: those are no fault of the peer.
///
/// Only the last 10,000 are remembered.
struct ResetStreams {
    private var streamIDs: Set<Int32> = []
    private var order = CircularBuffer<Int32>()

    mutating func insert(_ streamID: Int32) {
        guard streamIDs.insert(streamID).inserted else { return }
        order.append(streamID)
        while order.count > Self.limit { streamIDs.remove(order.removeFirst()) }
    }

    func contains(_ streamID: Int32) -> Bool { streamIDs.contains(streamID) }

    /// The peer has ended it too.
    mutating func ended(_ streamID: Int32) { streamIDs.remove(streamID) }

    private static let limit = 10_000
}
