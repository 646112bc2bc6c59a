import FuzzSupport

/// A peer that an input controls.
struct Peer {
    private let client: Client

    init(_ client: Client) { self.client = client }

    mutating func act(_ input: inout Input) {
        switch input.byte() % 12 {
        case 0, 1, 2: anyFrame(&input)
        case 3, 4: answer(&input)
        case 5: settings(&input)
        case 6: client.advance(milliseconds: Int64(input.byte()) * 100)
        case 7: client.deliver(bodyByteCount: input.number(below: 4_097))
        case 8: client.cancel(Int(input.byte()))
        case 9: goAway(&input)
        case 10: windowUpdate(&input)
        // Not a whole frame: the bytes that follow then belong to it.
        default: client.receive(input.take(Int(input.byte())))
        }
    }

    private func anyFrame(_ input: inout Input) {
        let type = input.byte() % 11
        let flags = input.byte()
        let stream = Self.stream(&input)
        client.receive(PeerFrame.bytes(type: type, flags: flags, stream: stream, input.take(Int(input.byte()))))
    }

    /// Answers as APNs does, in one frame or two.
    private func answer(_ input: inout Input) {
        let stream = Self.stream(&input)
        let status = Self.statuses[Int(input.byte()) % Self.statuses.count]
        let reason = Self.reasons[Int(input.byte()) % Self.reasons.count]
        let isRefusal = status != [0x88]
        let block = status + input.take(input.bool() ? 40 : 0)
        client.receive(PeerFrame.bytes(type: 1, flags: isRefusal ? 0x4 : 0x5, stream: stream, block))
        guard isRefusal else { return }
        client.receive(PeerFrame.bytes(type: 0, flags: 1, stream: stream, Array(#"{"reason":"\#(reason)"}"#.utf8)))
    }

    private func settings(_ input: inout Input) {
        var payload: [UInt8] = []
        for _ in 0..<input.byte() % 6 { payload += [0, input.byte() % 8] + PeerFrame.bigEndian(Self.size(&input)) }
        client.receive(PeerFrame.bytes(type: 4, stream: 0, payload))
    }

    private func goAway(_ input: inout Input) {
        let reason = Self.reasons[Int(input.byte()) % Self.reasons.count]
        let payload = PeerFrame.bigEndian(Self.stream(&input)) + PeerFrame.bigEndian(UInt32(input.byte() % 14))
        client.receive(PeerFrame.bytes(type: 7, stream: 0, payload + Array(#"{"reason":"\#(reason)"}"#.utf8)))
    }

    private func windowUpdate(_ input: inout Input) {
        let stream = Self.stream(&input)
        client.receive(PeerFrame.bytes(type: 8, stream: stream, PeerFrame.bigEndian(Self.size(&input))))
    }

    /// Returns a stream, usually an open one.
    private static func stream(_ input: inout Input) -> UInt32 {
        let byte = UInt32(input.byte())
        if byte < 0x60 { return byte % 32 == 0 ? 0 : 2 * (byte % 32) - 1 }
        return byte < 0xf0 ? 2 * (byte % 8) + 1 : UInt32(truncatingIfNeeded: input.word())
    }

    /// Returns any length, including small ones.
    private static func size(_ input: inout Input) -> UInt32 {
        UInt32(truncatingIfNeeded: input.word() >> UInt64(32 + input.byte() % 32))
    }

    /// Header blocks: 200, 400, and 404 from the static table, others written out.
    private static let statuses: [[UInt8]] =
        [[0x88], [0x88], [0x8c], [0x8d]] + ["100", "410", "429", "503", "999"].map { [0x08, 0x03] + Array($0.utf8) }
    private static let reasons = [
        "BadDeviceToken", "Unregistered", "ExpiredProviderToken", "TooManyProviderTokenUpdates", "IdleTimeout",
        "Shutdown", "TooManyRequests", "", "InternalServerError",
    ]
}

/// Frames as a server writes them. Source: RFC 9113, 4.1.
enum PeerFrame {
    static func bytes(type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        Array(bigEndian(UInt32(payload.count)).dropFirst()) + [type, flags] + bigEndian(stream) + payload
    }

    static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
