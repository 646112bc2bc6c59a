/// The reason that an HTTP/2 stream or connection ends, as sent in frames. Source: RFC 9113, 7.
struct ErrorCode: RawRepresentable, Hashable {
    let rawValue: UInt32

    static let noError = ErrorCode(rawValue: 0)
    static let protocolError = ErrorCode(rawValue: 1)
    static let flowControlError = ErrorCode(rawValue: 3)
    static let frameSizeError = ErrorCode(rawValue: 6)
    static let refusedStream = ErrorCode(rawValue: 7)
    static let cancel = ErrorCode(rawValue: 8)
    static let compressionError = ErrorCode(rawValue: 9)
    static let enhanceYourCalm = ErrorCode(rawValue: 11)

    var name: String { rawValue < Self.names.count ? Self.names[Int(rawValue)] : "error \(rawValue)" }

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
}
