internal import PushCore

/// A place on a network as typed: `HOST:PORT`, with an IPv6 address in brackets.
package struct HostAndPort: Hashable, Sendable {
    /// In lowercase, without brackets.
    package let host: String
    /// From 0 to 65,535.
    package let port: Int

    /// Returns nil unless the host is a name or an address: a user or a password isn't part of a place.
    package init?(parsing text: String) {
        guard let colon = text.lastIndex(of: ":"), case let digits = text[text.index(after: colon)...].utf8,
            digits.allSatisfy(\.isDigit), let port = UInt16(Substring(digits)),
            NetworkHost(parsing: String(text[..<colon])) != nil
        else { return nil }
        let host = text[..<colon].lowercased()
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.port = Int(port)
    }
}
