internal import PushCore

/// A URL of the content, in a form that all loaders read in the same way. Source: ContentParts 14.1.1.
struct ContentURL {
    /// The name or address; an IPv6 address is in brackets.
    let host: String

    /// Returns nil unless it uses `https`, or `http` to this machine, and has no user, password, or fragment.
    init?(parsing text: String, maximumByteCount: Int) {
        let isSecure = text.utf8.starts(with: "https://".utf8)
        guard text.utf8.count <= maximumByteCount, isSecure || text.utf8.starts(with: "http://".utf8) else {
            return nil
        }
        let rest = text.utf8.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        let bracket = authority.firstIndex(of: UInt8(ascii: "]")).map(authority.index(after:))
        let end = authority.first == UInt8(ascii: "[") ? bracket : authority.firstIndex(of: UInt8(ascii: ":"))
        host = String(decoding: authority[..<(end ?? authority.endIndex)], as: UTF8.self)
        guard isSecure ? Self.isHost(host) : Self.loopbackHosts.contains(host),
            Self.isEndOfAuthority(String(decoding: authority[(end ?? authority.endIndex)...], as: UTF8.self)),
            Self.isPath(rest.dropFirst(authority.count))
        else { return nil }
    }

    /// The hosts to which `http` is allowed.
    static let loopbackHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
}

extension ContentURL {
    private static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("[") { return text.hasSuffix("]") && isV6(String(text.dropFirst().dropLast())) }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // A loader might take a name such as 127.1 or 0x7f000001 for an address.
        if labels.last?.utf8.first?.isSmallLetter == true {
            return text.utf8.count <= maximumNameByteCount && labels.allSatisfy(isLabel)
        }
        return labels.count == 4 && labels.allSatisfy { UInt8($0).map(String.init) == String($0) }
    }

    private static func isV6(_ text: String) -> Bool {
        text.utf8.allSatisfy { !$0.isCapital && Hex.value($0) != nil || $0 == UInt8(ascii: ":") }
            && IPAddress(text: text)?.isV4 == false
    }

    private static func isLabel(_ text: Substring) -> Bool {
        (1...63).contains(text.utf8.count) && text.utf8.allSatisfy(\.isOfLabel)
            && text.utf8.first != UInt8(ascii: "-") && text.utf8.last != UInt8(ascii: "-")
    }

    /// Whether this is nothing, or a colon and a port.
    private static func isEndOfAuthority(_ text: String) -> Bool {
        guard !text.isEmpty else { return true }
        guard let port = UInt16(text.dropFirst()) else { return false }
        return port > 0 && text == ":\(port)"
    }

    /// Whether this consists of a path's and a query's characters (RFC 3986), in percent-encoding if others are meant.
    private static func isPath(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.popFirst().flatMap(Hex.value) != nil, rest.popFirst().flatMap(Hex.value) != nil
                else { return false }
            } else if !byte.isLetter && !byte.isDigit && !"-._~!$&'()*+,;=:@/?".utf8.contains(byte) {
                return false
            }
        }
        return true
    }

    private static let maximumNameByteCount = 253
}
