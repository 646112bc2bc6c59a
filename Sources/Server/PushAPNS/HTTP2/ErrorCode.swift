internal import NIOCore

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
    var name: String {
        rawValue < Self.names.count ? Self.names[Int(rawValue)] : "error \(rawValue)"
    }

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
