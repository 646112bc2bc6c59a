@testable import PushAPNS

/// Bytes that no server may send, and the code that RFC 9113 gives them.
struct FrameViolation: Sendable, CustomStringConvertible {
    let description: String
    let code: ErrorCode
    let bytes: [UInt8]

    static let all: [FrameViolation] =
        [
            FrameViolation(
                description: "begins with a PING", code: .protocolError,
                bytes: frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])),
            FrameViolation(
                description: "begins with an acknowledgement", code: .protocolError, bytes: frame(4, 1, 0, [])),
        ]
        + later.map { FrameViolation(description: $0, code: $1, bytes: frame(4, 0, 0, []) + $2) }

    /// After the settings.
    private static let later: [(String, ErrorCode, [UInt8])] = [
        ("too long", .frameSizeError, [0, 0x40, 1, 0, 0, 0, 0, 0, 1]),
        ("DATA on stream 0", .protocolError, frame(0, 0, 0, [1])),
        ("HEADERS on stream 0", .protocolError, frame(1, 4, 0, [0x88])),
        ("RST_STREAM on stream 0", .protocolError, frame(3, 0, 0, [0, 0, 0, 0])),
        ("PRIORITY on stream 0", .protocolError, frame(2, 0, 0, [0, 0, 0, 0, 1])),
        ("SETTINGS on a stream", .protocolError, frame(4, 0, 1, [])),
        ("PING on a stream", .protocolError, frame(6, 0, 1, [0, 0, 0, 0, 0, 0, 0, 0])),
        ("GOAWAY on a stream", .protocolError, frame(7, 0, 1, [0, 0, 0, 0, 0, 0, 0, 0])),
        ("PUSH_PROMISE", .protocolError, frame(5, 4, 1, [0, 0, 0, 2, 0x88])),
        ("CONTINUATION of nothing", .protocolError, frame(9, 4, 1, [])),
        ("CONTINUATION of another stream", .protocolError, frame(1, 0, 1, [0x88]) + frame(9, 4, 3, [])),
        (
            "a PING within a header block", .protocolError,
            frame(1, 0, 1, [0x88]) + frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
        ),
        ("only padding's length", .protocolError, frame(0, 8, 1, [])),
        ("more padding than frame", .protocolError, frame(0, 8, 1, [3, 0, 0])),
        ("HEADERS shorter than their priority", .frameSizeError, frame(1, 0x24, 1, [0, 0, 0, 0])),
        ("a short RST_STREAM", .frameSizeError, frame(3, 0, 1, [0, 0, 0])),
        ("a long PING", .frameSizeError, frame(6, 0, 0, [UInt8](repeating: 0, count: 9))),
        ("a short GOAWAY", .frameSizeError, frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0])),
        ("a short WINDOW_UPDATE", .frameSizeError, frame(8, 0, 0, [0, 0, 1])),
        ("a PRIORITY of four bytes", .frameSizeError, frame(2, 0, 1, [0, 0, 0, 0])),
        ("odd SETTINGS", .frameSizeError, frame(4, 0, 0, [0, 3, 0, 0, 0])),
        ("acknowledged SETTINGS", .frameSizeError, frame(4, 1, 0, [0, 3, 0, 0, 0, 1])),
        ("a window of nothing", .protocolError, frame(8, 0, 1, [0x80, 0, 0, 0])),
        ("an initial window that is too large", .flowControlError, frame(4, 0, 0, [0, 4, 0x80, 0, 0, 0])),
        ("a frame size that is too small", .protocolError, frame(4, 0, 0, [0, 5, 0, 0, 0x3f, 0xff])),
        ("a server that wants pushes", .protocolError, frame(4, 0, 0, [0, 2, 0, 0, 0, 1])),
    ]

    private static func frame(_ type: UInt8, _ flags: UInt8, _ streamID: UInt8, _ payload: [UInt8]) -> [UInt8] {
        FrameReaderTests.frame(type, flags, streamID, payload)
    }
}
