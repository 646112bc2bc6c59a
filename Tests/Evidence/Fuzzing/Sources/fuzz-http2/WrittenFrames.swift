import FuzzSupport
import NIOCore
import NIOHPACK

@testable import PushSender

/// Parses the transport's output as a server would. Source: RFC 9113, 3.4, 4.1, 5.2, and 6.
struct WrittenFrames {
    private(set) var byteCount = 0
    private var buffer = ByteBuffer()
    private var hasPreface = false
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var expected: [String: [UInt8]] = [:]
    private var bodies: [UInt32: (rest: ArraySlice<UInt8>, isEnded: Bool)] = [:]
    private var lastStream: UInt32 = 0
    /// The window for the whole connection; nil once the peer has sent bytes that can't be parsed here.
    private var window: Int? = 65_535

    mutating func expect(_ request: PushRequest) { expected[request.apnsID] = request.body }

    /// Tracks the connection's window, as long as the peer sends one whole frame at a time.
    mutating func peerSent(_ bytes: [UInt8]) {
        let length = bytes.prefix(3).reduce(0) { $0 << 8 | Int($1) }
        guard let window, bytes.count == 9 + length else {
            self.window = nil
            return
        }
        guard bytes[3] == 8, length == 4, bytes[5...8].allSatisfy({ $0 == 0 }) else { return }
        self.window = window + bytes[9...].reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff
    }

    mutating func take(_ bytes: ByteBuffer) {
        byteCount += bytes.readableBytes
        buffer.writeImmutableBuffer(bytes)
        if !hasPreface {
            demand(buffer.readString(length: 24) == "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no preface")
            hasPreface = true
        }
        while buffer.readableBytes > 0 {
            guard let head = buffer.readInteger(as: UInt32.self), let flags = buffer.readInteger(as: UInt8.self),
                let stream = buffer.readInteger(as: UInt32.self), head >> 8 <= 16_384,
                let payload = buffer.readSlice(length: Int(head >> 8))
            else { fatalError("an incomplete frame is sent") }
            take(type: head & 0xff, flags, stream, payload)
        }
        buffer.clear()
    }

    private mutating func take(type: UInt32, _ flags: UInt8, _ stream: UInt32, _ payload: ByteBuffer) {
        switch type {
        case 0: data(stream, payload, isLast: flags & 1 != 0)
        case 1: headers(stream, payload)
        case 3: demand(payload.readableBytes == 4 && bodies[stream] != nil, "a reset without a stream")
        case 4: demand(stream == 0 && payload.readableBytes.isMultiple(of: 6), "invalid settings")
        case 6: demand(stream == 0 && payload.readableBytes == 8, "an invalid ping")
        case 7: demand(stream == 0 && payload.readableBytes == 8, "an invalid GOAWAY")
        case 8: demand(payload.readableBytes == 4, "an invalid window update")
        default: fatalError("a frame of type \(type) is sent")
        }
    }

    private mutating func headers(_ stream: UInt32, _ payload: ByteBuffer) {
        demand(stream > lastStream && stream % 2 == 1, "stream \(stream) comes after \(lastStream)")
        lastStream = stream
        var payload = payload
        guard let headers = try? decoder.decodeHeaders(from: &payload) else { fatalError("headers that can't be read") }
        demand(headers[":method"] == ["POST"] && headers["authorization"] == ["bearer token"], "\(headers)")
        guard let body = headers["apns-id"].first.flatMap({ expected[$0] }) else { fatalError("unknown headers") }
        bodies[stream] = (body[...], false)
    }

    private mutating func data(_ stream: UInt32, _ payload: ByteBuffer, isLast: Bool) {
        guard let body = bodies[stream], !body.isEnded else { fatalError("data on a stream that is not open") }
        demand(body.rest.starts(with: payload.readableBytesView), "the body of another push")
        let rest = body.rest.dropFirst(payload.readableBytes)
        demand(isLast == rest.isEmpty, "the body ends in the wrong place")
        bodies[stream] = (rest, isLast)
        if let window {
            self.window = window - payload.readableBytes
            demand(window >= payload.readableBytes, "more is sent than the peer's window allows")
        }
    }
}
