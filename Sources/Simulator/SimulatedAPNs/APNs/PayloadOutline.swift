internal import SealedPush

/// What can be read of a payload: the names at its top, how long each value is, and which members `aps` has.
///
/// One pass over the bytes, without making anything of the values; strict JSON (RFC 8259), at most 64 deep.
struct PayloadOutline {
    /// Each member at the top: where its name (between the quotes) and its value lie.
    private(set) var members: [(name: Range<Int>, value: Range<Int>)] = []
    private(set) var aps: Range<Int>?
    private var apsNames: ApsNames = []

    struct ApsNames: OptionSet {
        let rawValue: Int
        static let alert = ApsNames(rawValue: 1)
        static let badge = ApsNames(rawValue: 2)
        static let sound = ApsNames(rawValue: 4)
        static let contentAvailable = ApsNames(rawValue: 8)
    }

    var hasAps: Bool { aps != nil }

    /// Nil where the bytes are no JSON object.
    init?(scanning bytes: UnsafeBufferPointer<UInt8>) {
        var reader = JSONReader(bytes, maximumDepth: JSONReader.maximumPayloadDepth)
        reader.skipSpace()
        let isRead = reader.object { reader, name in
            let start = reader.place
            let isAps = Self.matches(bytes, name.range, "aps") && reader.peek == UInt8(ascii: "{")
            guard isAps ? skipAps(&reader, bytes) : reader.skip() else { return false }
            if isAps { aps = start..<reader.place }
            members.append((name.range, start..<reader.place))
            return true
        }
        reader.skipSpace()
        guard isRead, reader.isAtEnd else { return nil }
    }

    private mutating func skipAps(_ reader: inout JSONReader, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        apsNames = []
        return reader.object { reader, name in
            if Self.matches(bytes, name.range, "alert") { apsNames.insert(.alert) }
            if Self.matches(bytes, name.range, "badge") { apsNames.insert(.badge) }
            if Self.matches(bytes, name.range, "sound") { apsNames.insert(.sound) }
            if Self.matches(bytes, name.range, "content-available") { apsNames.insert(.contentAvailable) }
            return reader.skip()
        }
    }

    /// Apple: the push type "must accurately reflect the contents of your notification's payload".
    func fits(_ type: PushType) -> Bool {
        let isVisible = !apsNames.isDisjoint(with: [.alert, .badge, .sound])
        switch type {
        case .alert: return isVisible
        case .background: return apsNames.contains(.contentAvailable) && !isVisible
        case .complication, .controls, .fileprovider, .liveactivity, .location, .mdm, .pushtotalk, .voip, .widgets:
            return true
        }
    }

    private static func matches(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ text: StaticString) -> Bool
    {
        guard range.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { $0.elementsEqual(UnsafeBufferPointer(rebasing: bytes[range])) }
    }
}
