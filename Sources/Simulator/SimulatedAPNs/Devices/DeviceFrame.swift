internal import Foundation
internal import NIOCore

/// What devices and a local APNs tell each other over a Unix socket: one JSON object a line.
///
/// A Unix socket rather than TLS: the folder's permissions say who may be a device, and nothing leaves the machine.
enum DeviceFrame: Codable, Equatable {
    // From a device.
    /// Answered by `registered` with the same number.
    case register(request: Int, name: String, topic: String)
    case online(tokens: [String])
    /// Shown, and never to be sent again.
    case acknowledge(number: UInt64, token: String)
    /// What a person sees of it.
    case showed(token: String, shown: ShownOnDevice)
    // From the server.
    case registered(request: Int, token: String)
    case notification(number: UInt64, token: String, notification: APNsNotification)
    /// The device said `online` for a token that the server does not take: it has to register.
    case unknown(tokens: [String])
    /// Somebody looks: `showed` is wanted.
    case watched

    /// No line is longer: a full list of tokens is shorter.
    static let maximumByteCount = 1 << 20
    /// In one `online`.
    static let maximumTokenCount = 10_000

    func write(to buffer: inout ByteBuffer) {
        guard let line = try? JSONEncoder().encode(self) else { return }
        buffer.writeBytes(line)
        buffer.writeInteger(UInt8(ascii: "\n"))
    }

    enum Failure: Error { case malformed }

    /// Takes one frame off the front. Returns nil if it has not arrived whole.
    static func read(from buffer: inout ByteBuffer) throws(Failure) -> DeviceFrame? {
        guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            guard buffer.readableBytes <= maximumByteCount else { throw .malformed }
            return nil
        }
        let length = end - buffer.readerIndex
        guard length <= maximumByteCount, let line = buffer.readSlice(length: length) else { throw .malformed }
        buffer.moveReaderIndex(forwardBy: 1)
        guard let frame = try? JSONDecoder().decode(Self.self, from: Data(line.readableBytesView)), frame.isInBounds
        else { throw .malformed }
        return frame
    }

    private var isInBounds: Bool {
        switch self {
        case .online(let tokens), .unknown(let tokens): tokens.count <= Self.maximumTokenCount
        case .register(_, let name, let topic): DeviceRecord.isName(name, topic: topic)
        case .acknowledge, .showed, .registered, .notification, .watched: true
        }
    }
}
