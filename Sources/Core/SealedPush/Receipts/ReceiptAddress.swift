internal import PushCore

/// Where receipts go: a URL of at most 256 bytes. Source: Specification 16.1.
///
/// `https`, or `http` to this machine alone, which a device reaches in the simulator only.
public struct ReceiptAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL, as it was given.
    public let description: String
    /// The server's name or address, in small letters.
    package let host: String

    /// Nil unless the text is `https://HOST…`, or `http://` with a loopback host: visible ASCII that needs no escape, without
    /// user, password and fragment.
    public init?(parsing text: String) {
        guard text.utf8.count <= Self.maximumByteCount, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let authority = text.dropFirst(isSecure ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(authority), isSecure || Self.loopbackHosts.contains(host) else { return nil }
        description = text
        self.host = host
    }

    /// Whether it goes over the network, and so is encrypted.
    package var isSecure: Bool { description.hasPrefix("https://") }

    /// Nil where there is none, or anything but a port stands behind it.
    private static func host(_ authority: Substring) -> String? {
        let parts: (host: Substring, rest: Substring)
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            parts = (authority[...end], authority[authority.index(after: end)...])
            guard parts.host.dropFirst().dropLast().utf8.allSatisfy(isOfAddress) else { return nil }
        } else {
            let end = authority.firstIndex(of: ":") ?? authority.endIndex
            parts = (authority[..<end], authority[end...])
            guard parts.host.utf8.allSatisfy(\.isOfHostName) else { return nil }
        }
        guard !parts.host.isEmpty, parts.host != "[]" else { return nil }
        if parts.rest.isEmpty { return parts.host.lowercased() }
        guard parts.rest.hasPrefix(":"), let port = UInt16(parts.rest.dropFirst()), port > 0,
            parts.rest.dropFirst() == String(port)
        else { return nil }
        return parts.host.lowercased()
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte) && !Array("\"#<>@\\^`{|}".utf8).contains(byte)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte.isOfHostName && byte != UInt8(ascii: "-") || byte == UInt8(ascii: ":")
    }

    private static let maximumByteCount = 256
    static let loopbackHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
}
