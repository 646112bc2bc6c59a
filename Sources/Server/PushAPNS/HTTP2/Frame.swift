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
