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
