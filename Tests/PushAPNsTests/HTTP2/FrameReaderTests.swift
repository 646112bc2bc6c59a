import NIOCore
import Testing

@testable import PushAPNs

@Suite("Frames") struct FrameReaderTests {
    @Test("every frame that a server may send is read without its padding and priority, in pieces of any size")
    func frames() throws {
        let bytes: [UInt8] =
            Self.frame(4, 0, 0, [0, 3, 0, 0, 0, 10, 0, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 7, 0, 9, 0, 0, 0, 1])
            + Self.frame(4, 1, 0, []) + Self.frame(1, 5, 1, [0x88])
            + Self.frame(1, 0x2c, 3, [2, 0, 0, 0, 1, 9, 0x88, 0x87, 0, 0])
            + Self.frame(1, 0, 5, [0x88]) + Self.frame(9, 0, 5, []) + Self.frame(9, 4, 5, [0x87])
            + Self.frame(0, 0, 1, [1, 2, 3]) + Self.frame(0, 9, 3, [1, 7, 0]) + Self.frame(3, 0, 3, [0, 0, 0, 8])
            + Self.frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 1, 0]) + Self.frame(6, 1, 0, [0, 0, 0, 0, 0, 0, 0, 2])
            + Self.frame(7, 0, 0, [0, 0, 0, 5, 0, 0, 0, 11, 0x7b]) + Self.frame(8, 0, 0, [0, 0, 1, 0])
            + Self.frame(8, 0, 7, [0x80, 0, 0, 1]) + Self.frame(2, 0, 7, [0, 0, 0, 0, 1])
            + Self.frame(0xab, 0xff, 9, [1])
        let expected: [IncomingFrame] = [
            .settings(
                PeerSettings(headerTableByteCounts: [7], streamLimit: 10, initialWindow: 65_536, sentCount: 4)),
            .settingsAcknowledged, .headers(1, block: ByteBuffer(bytes: [0x88]), isLast: true),
            .headers(3, block: ByteBuffer(bytes: [0x88, 0x87]), isLast: false),
            .headers(5, block: ByteBuffer(bytes: [0x88, 0x87]), isLast: false),
            .data(1, bytes: ByteBuffer(bytes: [1, 2, 3]), flowControlledByteCount: 3, isLast: false),
            .data(3, bytes: ByteBuffer(bytes: [7]), flowControlledByteCount: 3, isLast: true),
            .reset(3, .cancel), .ping(256), .pingAnswer(2),
            .goAway(lastStreamID: 5, .enhanceYourCalm, data: ByteBuffer(bytes: [0x7b])),
            .windowUpdate(0, increment: 256), .windowUpdate(7, increment: 1), .other(byteCount: 5),
            .other(byteCount: 1),
        ]
        for pieceLength in [bytes.count, 1, 2, 7, 10, 16] {
            var reader = FrameReader()
            var seen: [IncomingFrame] = []
            for start in stride(from: 0, to: bytes.count, by: pieceLength) {
                reader.append(ByteBuffer(bytes: bytes[start..<min(start + pieceLength, bytes.count)]))
                while let frame = try reader.next() { seen.append(frame) }
            }
            #expect(seen == expected, "in pieces of \(pieceLength)")
        }
    }

    @Test("each violation is reported with the code that the RFC specifies", arguments: FrameViolation.all)
    func violations(_ violation: FrameViolation) {
        var reader = FrameReader()
        reader.append(ByteBuffer(bytes: violation.bytes))
        let error = #expect(throws: ProtocolViolation.self) { while try reader.next() != nil {} }
        #expect(error?.code == violation.code)
    }

    @Test("A frame's last value of each setting counts, but every table size does; a frame has at most 32 settings")
    func manySettings() throws {
        func settings(_ pairs: [(UInt8, UInt8)]) -> [UInt8] {
            Self.frame(4, 0, 0, pairs.flatMap { [0, $0, 0, 0, 0, $1] })
        }
        func read(_ bytes: [UInt8]) throws(ProtocolViolation) -> IncomingFrame? {
            var reader = FrameReader()
            reader.append(ByteBuffer(bytes: bytes))
            return try reader.next()
        }
        let windows = (0..<32).map { (UInt8(4), UInt8($0)) }
        #expect(try read(settings(windows)) == .settings(PeerSettings(initialWindow: 31, sentCount: 32)))
        // A smaller table in between has evicted the peer's entries.
        #expect(
            try read(settings([(1, 9), (3, 5), (1, 2), (4, 7), (3, 6), (1, 8)]))
                == .settings(
                    PeerSettings(headerTableByteCounts: [9, 2, 8], streamLimit: 6, initialWindow: 7, sentCount: 6)))
        let error = #expect(throws: ProtocolViolation.self) { try read(settings(windows + [(99, 0)])) }
        #expect(error?.code == .enhanceYourCalm)
    }

    @Test("an endless header block is rejected") func endlessBlock() {
        for (payload, most) in [([UInt8](repeating: 0, count: 16_384), 2), ([], 8)] {
            var reader = FrameReader()
            reader.append(ByteBuffer(bytes: Self.frame(4, 0, 0, []) + Self.frame(1, 0, 1, payload)))
            var count = 1
            let error = #expect(throws: ProtocolViolation.self) {
                while true {
                    while try reader.next() != nil {}
                    count += 1
                    reader.append(ByteBuffer(bytes: Self.frame(9, 0, 1, payload)))
                }
            }
            #expect(error?.code == .enhanceYourCalm)
            #expect(count <= most + 1)
        }
    }

    @Test("more useless frames than pushes justify within half a minute are a flood") func flood() throws {
        var flood = FloodGuard()
        var now = NIODeadline.uptimeNanoseconds(60_000_000_000)
        for _ in 0..<10_000 { try flood.took(now: now) }
        #expect(throws: ProtocolViolation.self) { try flood.took(now: now) }
        flood.pushed()
        for _ in 0..<7 { try flood.took(now: now) }
        #expect(throws: ProtocolViolation.self) { try flood.took(now: now) }
        now = now + .seconds(30)
        for _ in 0..<10_000 { try flood.took(now: now) }
    }

    static func frame(_ type: UInt8, _ flags: UInt8, _ streamID: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xff), type, flags, 0, 0, 0, streamID] + payload
    }
}

/// Bytes that a server must not send, and the code that RFC 9113 specifies for them.
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
        ] + later.map { FrameViolation(description: $0, code: $1, bytes: frame(4, 0, 0, []) + $2) }

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
        ("CONTINUATION without HEADERS", .protocolError, frame(9, 4, 1, [])),
        ("CONTINUATION of another stream", .protocolError, frame(1, 0, 1, [0x88]) + frame(9, 4, 3, [])),
        (
            "a PING within a header block", .protocolError,
            frame(1, 0, 1, [0x88]) + frame(6, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
        ), ("only padding's length", .protocolError, frame(0, 8, 1, [])),
        ("more padding than the frame holds", .protocolError, frame(0, 8, 1, [3, 0, 0])),
        ("HEADERS shorter than their priority", .frameSizeError, frame(1, 0x24, 1, [0, 0, 0, 0])),
        ("a short RST_STREAM", .frameSizeError, frame(3, 0, 1, [0, 0, 0])),
        ("a long PING", .frameSizeError, frame(6, 0, 0, [UInt8](repeating: 0, count: 9))),
        ("a short GOAWAY", .frameSizeError, frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0])),
        ("a short WINDOW_UPDATE", .frameSizeError, frame(8, 0, 0, [0, 0, 1])),
        ("a PRIORITY of four bytes", .frameSizeError, frame(2, 0, 1, [0, 0, 0, 0])),
        ("odd SETTINGS", .frameSizeError, frame(4, 0, 0, [0, 3, 0, 0, 0])),
        ("acknowledged SETTINGS", .frameSizeError, frame(4, 1, 0, [0, 3, 0, 0, 0, 1])),
        ("a zero window update", .protocolError, frame(8, 0, 1, [0x80, 0, 0, 0])),
        ("an initial window that is too large", .flowControlError, frame(4, 0, 0, [0, 4, 0x80, 0, 0, 0])),
        ("a frame size that is too small", .protocolError, frame(4, 0, 0, [0, 5, 0, 0, 0x3f, 0xff])),
        ("a server that enables push", .protocolError, frame(4, 0, 0, [0, 2, 0, 0, 0, 1])),
    ]

    private static func frame(_ type: UInt8, _ flags: UInt8, _ streamID: UInt8, _ payload: [UInt8]) -> [UInt8] {
        FrameReaderTests.frame(type, flags, streamID, payload)
    }
}
