/// What a hostile server does to the push that it is sent. Each goes on until the connection ends, except where it is one frame.
package enum HostileDeed: String, CaseIterable, Sendable {
    /// 1xx without end in place of an answer.
    case earlyHints = "early-hints"
    /// One SETTINGS frame with thousands of values.
    case manySettings = "many-settings"
    /// SETTINGS without end, of as many values as are taken.
    case settings
    /// A frame that breaks the rules, and then anything.
    case afterViolation = "after-violation"
    /// A farewell, and then anything.
    case afterGoAway = "after-goaway"
    case goAways = "goaways"
    /// HEADERS without end on a stream that the client has reset.
    case resetHeaders = "reset-headers"
    /// DATA without end on a stream that the client has reset.
    case resetData = "reset-data"
    /// An answer whose body has no end. Its status counts.
    case endlessBody = "endless-body"
    case pings
    case continuations
    case windowUpdates = "window-updates"
    /// Frames of an unknown type, each as long as a frame may be.
    case unknownFrames = "unknown-frames"
    /// Says nothing more, and reads nothing.
    case silence
}

extension HostileDeed {
    /// Whether it begins when the client has reset the stream, not before.
    package var waitsForReset: Bool { self == .resetHeaders || self == .resetData }

    /// Whether what it sends at once ends the connection.
    package var isSoon: Bool { !waitsForReset && self != .silence }

    /// What comes first, once.
    func beginning(on stream: UInt32) -> [UInt8] {
        switch self {
        case .manySettings: Self.frame(4, 0, 0, Self.settings(count: 2_700))
        case .afterViolation: Self.frame(8, 0, 0, [0, 0, 0, 0])
        case .afterGoAway: Self.goAway(last: stream)
        case .endlessBody: Self.frame(1, 4, stream, Self.status200)
        case .continuations: Self.frame(1, 0, stream, Self.status200)
        default: []
        }
    }

    /// What then comes again and again; empty where nothing does.
    func repeated(on stream: UInt32) -> [UInt8] {
        switch self {
        case .earlyHints, .resetHeaders: Self.frame(1, 4, stream, Self.status103)
        case .settings: Self.frame(4, 0, 0, Self.settings(count: 32))
        case .afterViolation, .afterGoAway, .pings: Self.frame(6, 0, 0, [0, 1, 2, 3, 4, 5, 6, 7])
        case .goAways: Self.goAway(last: stream)
        case .resetData, .endlessBody: Self.frame(0, 0, stream, Array(repeating: 0x78, count: 16_384))
        case .continuations: Self.frame(9, 0, stream, [0x0f, 0x0d, 1, 0x31])
        case .windowUpdates: Self.frame(8, 0, 0, [0, 0, 0, 1]) + Self.frame(8, 0, stream, [0, 0, 0, 1])
        case .unknownFrames: Self.frame(0x99, 0, 0, Array(repeating: 0, count: 16_384))
        case .manySettings, .silence: []
        }
    }

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        return bytes(length).dropFirst() + [type, flags] + bytes(stream) + payload
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

    /// Windows and table sizes, by turns.
    private static func settings(count: Int) -> [UInt8] {
        (0..<count).flatMap { number in
            [0, number.isMultiple(of: 2) ? 4 : 1] + bytes(UInt32(1_000 + number % 7))
        }
    }

    private static func goAway(last stream: UInt32) -> [UInt8] {
        frame(7, 0, 0, bytes(stream) + bytes(0) + Array(#"{"reason":"Shutdown"}"#.utf8))
    }

    /// `:status: 200`, from HPACK's static table.
    static let status200: [UInt8] = [0x88]
    /// `:status: 103`, without a place in the table.
    private static let status103: [UInt8] = [0x08, 3, 0x31, 0x30, 0x33]
}
