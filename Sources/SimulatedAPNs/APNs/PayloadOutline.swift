/// What can be read of a payload: the names at its top, how long each value is, and which members `aps` has.
///
/// One pass over the bytes, without making anything of the values; strict JSON (RFC 8259), at most 32 deep.
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
        var scanner = JSONScanner(bytes)
        scanner.skipSpace()
        guard scanner.peek == UInt8(ascii: "{") else { return nil }
        let isRead = scanner.object { scanner, name in
            scanner.skipSpace()
            let isAps = Self.matches(bytes, name, "aps")
            let start = scanner.place
            if isAps, scanner.peek == UInt8(ascii: "{") {
                apsNames = []
                let isRead = scanner.object { scanner, name in
                    if Self.matches(bytes, name, "alert") { apsNames.insert(.alert) }
                    if Self.matches(bytes, name, "badge") { apsNames.insert(.badge) }
                    if Self.matches(bytes, name, "sound") { apsNames.insert(.sound) }
                    if Self.matches(bytes, name, "content-available") { apsNames.insert(.contentAvailable) }
                    return scanner.value()
                }
                guard isRead else { return false }
                aps = start..<scanner.place
                members.append((name, start..<scanner.place))
                return true
            }
            guard scanner.value() else { return false }
            members.append((name, start..<scanner.place))
            return true
        }
        scanner.skipSpace()
        guard isRead, scanner.isAtEnd else { return nil }
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

/// Walks over JSON.
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var place = 0
    private var depth = 0

    private static let maximumDepth = 32

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }
    var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    mutating func skipSpace() {
        while place < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[place]) { place += 1 }
    }

    /// From its opening bracket; `member` is called behind each colon with where the name lies.
    mutating func object(_ member: (inout JSONScanner, Range<Int>) -> Bool) -> Bool {
        guard take(UInt8(ascii: "{")), depth < Self.maximumDepth else { return false }
        depth += 1
        defer { depth -= 1 }
        skipSpace()
        if take(UInt8(ascii: "}")) { return true }
        repeat {
            skipSpace()
            let start = place + 1
            guard string() else { return false }
            let name = start..<place - 1
            skipSpace()
            guard take(UInt8(ascii: ":")), member(&self, name) else { return false }
            skipSpace()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    mutating func value() -> Bool {
        skipSpace()
        switch peek {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "{"): return object { scanner, _ in scanner.value() }
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        case .some(let byte): return byte == UInt8(ascii: "-") || Self.isDigit(byte) ? number() : false
        case nil: return false
        }
    }

    private mutating func array() -> Bool {
        guard take(UInt8(ascii: "[")), depth < Self.maximumDepth else { return false }
        depth += 1
        defer { depth -= 1 }
        skipSpace()
        if take(UInt8(ascii: "]")) { return true }
        repeat {
            guard value() else { return false }
            skipSpace()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }

    private mutating func string() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            if byte == UInt8(ascii: "\\"), !escape() { return false }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let byte = peek else { return false }
        place += 1
        guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
        for _ in 0..<4 {
            guard let digit = peek, Self.isHexadecimal(digit) else { return false }
            place += 1
        }
        return true
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { guard digits() else { return false } }
        if take(UInt8(ascii: ".")) { guard digits() else { return false } }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = place
        while let byte = peek, Self.isDigit(byte) { place += 1 }
        return place > start
    }

    private mutating func word(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { word in
            guard bytes.count - place >= word.count,
                word.elementsEqual(UnsafeBufferPointer(rebasing: bytes[place..<place + word.count]))
            else { return false }
            place += word.count
            return true
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        place += 1
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
    }
}
