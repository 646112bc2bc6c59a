internal import PushCore

/// The address for receipts: a URL of at most 256 bytes. It uses `https`, or `http` to this machine, which works only in
/// the simulator. Source: ContentParts 16.1.
public struct ReceiptAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL as given.
    public let description: String
    /// The server's name or address, in lowercase.
    package let host: String

    /// Returns nil unless the text is `https://HOST…`, or `http://` with a loopback host: visible ASCII that needs no
    /// escaping, without a user, password, or fragment.
    public init?(parsing text: String) {
        guard text.utf8.count <= Self.maximumByteCount, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let authority = text.dropFirst(isSecure ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(authority), isSecure || URLAuthority.loopbackHosts.contains(host) else { return nil }
        description = text
        self.host = host
    }

    /// Whether it goes over the network, and is therefore encrypted.
    package var isSecure: Bool { description.hasPrefix("https://") }

    /// Returns nil if there is no host, or if anything but a port follows it.
    private static func host(_ text: Substring) -> String? {
        guard let authority = URLAuthority(text), !authority.host.isEmpty, authority.host != "[]" else { return nil }
        let isHost =
            authority.host.hasPrefix("[")
            ? authority.host.dropFirst().dropLast().utf8.allSatisfy(isOfAddress)
            : authority.host.utf8.allSatisfy(\.isOfHostName)
        guard isHost else { return nil }
        if let port = authority.port {
            guard let number = UInt16(port), number > 0, port == String(number) else { return nil }
        }
        return authority.host.lowercased()
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte) && !Array("\"#<>@\\^`{|}".utf8).contains(byte)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte.isOfHostName && byte != UInt8(ascii: "-") || byte == UInt8(ascii: ":")
    }

    private static let maximumByteCount = 256
}
