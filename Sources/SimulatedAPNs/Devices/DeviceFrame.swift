internal import NIOCore
internal import SealedPush
internal import _PushBase

/// What devices and a local APNs tell each other, over a Unix socket: 4 bytes of length, 1 of type, then the fields, with
/// numbers big endian and texts behind their length.
///
/// A Unix socket rather than TLS: the folder's permissions say who may be a device, and nothing leaves the machine.
enum DeviceFrame: Equatable {
    // From a device.
    /// Answered by `registered` with the same number.
    case register(request: UInt32, name: String, topic: String)
    case online(tokens: [String])
    case offline(tokens: [String])
    /// Shown, and never to be sent again.
    case acknowledge(number: UInt64, token: String)
    /// What a person sees of it, as JSON: ``ShownOnDevice``.
    case showed(token: String, json: [UInt8])
    // From the server.
    case registered(request: UInt32, token: String)
    case notification(number: UInt64, token: String, APNsNotification)
    /// The device said `online` for a token that the server does not take: it has to register.
    case unknown(tokens: [String])
    /// Somebody looks: `showed` is wanted.
    case watched

    /// No frame is longer: a full list of tokens is.
    static let maximumByteCount = 1 << 20
    /// In one `online` or `offline`.
    static let maximumTokenCount = 10_000

    func write(to buffer: inout ByteBuffer) {
        let start = buffer.writerIndex
        buffer.writeInteger(UInt32(0))
        switch self {
        case .register(let request, let name, let topic):
            buffer.writeInteger(UInt8(1))
            buffer.writeInteger(request)
            buffer.writeText(name)
            buffer.writeText(topic)
        case .online(let tokens): buffer.writeTokens(2, tokens)
        case .offline(let tokens): buffer.writeTokens(3, tokens)
        case .acknowledge(let number, let token):
            buffer.writeInteger(UInt8(4))
            buffer.writeInteger(number)
            buffer.writeToken(token)
        case .registered(let request, let token):
            buffer.writeInteger(UInt8(5))
            buffer.writeInteger(request)
            buffer.writeToken(token)
        case .notification(let number, let token, let notification):
            buffer.writeInteger(UInt8(6))
            buffer.writeInteger(number)
            buffer.writeToken(token)
            buffer.writeInteger(UInt8(notification.priority))
            buffer.writeInteger(notification.received)
            buffer.writeInteger(notification.expiration ?? -1)
            buffer.writeText(notification.pushType.rawValue)
            buffer.writeText(notification.apnsID)
            buffer.writeText(notification.collapseID ?? "")
            buffer.writeInteger(UInt32(notification.payload.count))
            buffer.writeBytes(notification.payload)
        case .unknown(let tokens): buffer.writeTokens(7, tokens)
        case .showed(let token, let json):
            buffer.writeInteger(UInt8(8))
            buffer.writeToken(token)
            buffer.writeBytes(json)
        case .watched: buffer.writeInteger(UInt8(9))
        }
        buffer.setInteger(UInt32(buffer.writerIndex - start - 4), at: start)
    }

    enum Failure: Error { case malformed }

    /// Takes one frame off the front; nil where it has not come whole.
    static func read(from buffer: inout ByteBuffer) throws(Failure) -> DeviceFrame? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        guard length >= 1, length <= maximumByteCount else { throw .malformed }
        guard buffer.readableBytes >= 4 + Int(length) else { return nil }
        buffer.moveReaderIndex(forwardBy: 4)
        guard var body = buffer.readSlice(length: Int(length)), let frame = DeviceFrame(&body), body.readableBytes == 0
        else { throw .malformed }
        return frame
    }

    private init?(_ body: inout ByteBuffer) {
        switch body.readInteger(as: UInt8.self) {
        case 1:
            guard let request = body.readInteger(as: UInt32.self), let name = body.readText(),
                let topic = body.readText()
            else { return nil }
            self = .register(request: request, name: name, topic: topic)
        case 2:
            guard let tokens = body.readTokens() else { return nil }
            self = .online(tokens: tokens)
        case 3:
            guard let tokens = body.readTokens() else { return nil }
            self = .offline(tokens: tokens)
        case 4:
            guard let number = body.readInteger(as: UInt64.self), let token = body.readToken() else { return nil }
            self = .acknowledge(number: number, token: token)
        case 5:
            guard let request = body.readInteger(as: UInt32.self), let token = body.readToken() else { return nil }
            self = .registered(request: request, token: token)
        case 6:
            guard let number = body.readInteger(as: UInt64.self), let token = body.readToken(),
                let notification = body.readNotification()
            else { return nil }
            self = .notification(number: number, token: token, notification)
        case 7:
            guard let tokens = body.readTokens() else { return nil }
            self = .unknown(tokens: tokens)
        case 8:
            guard let token = body.readToken(), let json = body.readBytes(length: body.readableBytes) else {
                return nil
            }
            self = .showed(token: token, json: json)
        case 9: self = .watched
        default: return nil
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeText(_ text: String) {
        writeInteger(UInt16(clamping: text.utf8.count))
        writeBytes(text.utf8.prefix(Int(UInt16.max)))
    }

    fileprivate mutating func readText() -> String? {
        guard let count = readInteger(as: UInt16.self), let bytes = readBytes(length: Int(count)) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// 32 bytes, as 64 digits.
    fileprivate mutating func writeToken(_ token: String) { writeBytes(Hex.decode(token) ?? []) }

    fileprivate mutating func readToken() -> String? { readBytes(length: 32).map { Hex.encode($0) } }

    fileprivate mutating func writeTokens(_ type: UInt8, _ tokens: [String]) {
        writeInteger(type)
        writeInteger(UInt32(tokens.count))
        for token in tokens { writeToken(token) }
    }

    fileprivate mutating func readTokens() -> [String]? {
        guard let count = readInteger(as: UInt32.self), count <= DeviceFrame.maximumTokenCount else { return nil }
        var tokens: [String] = []
        for _ in 0..<count {
            guard let token = readToken() else { return nil }
            tokens.append(token)
        }
        return tokens
    }

    fileprivate mutating func readNotification() -> APNsNotification? {
        guard let priority = readInteger(as: UInt8.self), let received = readInteger(as: Int64.self),
            let expiration = readInteger(as: Int64.self), let type = readText().flatMap({ PushType(rawValue: $0) }),
            let apnsID = readText(), let collapseID = readText(), let count = readInteger(as: UInt32.self),
            let payload = readBytes(length: Int(count))
        else { return nil }
        return APNsNotification(
            apnsID: apnsID, pushType: type, priority: Int(priority), expiration: expiration < 0 ? nil : expiration,
            collapseID: collapseID.isEmpty ? nil : collapseID, payload: payload, received: received)
    }
}
