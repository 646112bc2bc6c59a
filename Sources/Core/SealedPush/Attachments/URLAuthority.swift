internal import PushCore

/// The host and the port of a URL in ASCII, as written.
struct URLAuthority {
    let host: Substring
    /// Nil if there is none.
    let port: Substring?

    /// Returns nil if anything but a port follows the host.
    init?(_ text: Substring) {
        let bracket = text.firstIndex(of: "]").map(text.index(after:))
        guard let end = text.hasPrefix("[") ? bracket : text.firstIndex(of: ":") ?? text.endIndex,
            end == text.endIndex || text[end] == ":"
        else { return nil }
        host = text[..<end]
        port = end == text.endIndex ? nil : text[end...].dropFirst()
    }

    /// Whether host and port have the form that a sender may use for a file. Source: ContentParts 14.1.1.
    var isUsable: Bool {
        if let port {
            guard (1...5).contains(port.utf8.count), port.utf8.allSatisfy(\.isDigit), UInt16(port) ?? 0 > 0
            else { return false }
        }
        if host.hasPrefix("[") {
            return !host.contains("%") && IPAddress(text: String(host.dropFirst().dropLast()))?.isV4 == false
        }
        var labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last == "" { labels.removeLast() }
        return labels.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0.isCapital || $0.isOfLabel } }
    }

    /// The hosts to which `http` is allowed.
    static let loopbackHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
}
