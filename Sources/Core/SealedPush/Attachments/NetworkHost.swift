internal import PushCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The destination of a request, from its URL.
package enum NetworkHost: Hashable, Sendable {
    /// In lowercase, without a trailing dot.
    case name(String)
    case address(IPAddress)

    /// Returns nil unless the host is an address or consists of letters, digits, hyphens, and dots: a loader might map
    /// anything else to another host. Also nil if it has a user or password: files are never fetched with credentials.
    package init?(_ url: URL) {
        guard var text = url.host(percentEncoded: true)?.lowercased(), url.user() == nil, url.password() == nil
        else { return nil }
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        if text.contains(":") {
            guard let address = IPAddress(text: text) else { return nil }
            self = .address(address)
            return
        }
        // Only an address may be in brackets.
        guard !url.absoluteString.contains("//[") else { return nil }
        self.init(lowercase: text)
    }

    /// Parses a host as typed. An IPv6 address is in brackets; its zone, if it has one, is an interface's name.
    package init?(parsing text: String) {
        let text = text.lowercased()
        guard text.hasPrefix("["), text.hasSuffix("]") else {
            self.init(lowercase: text)
            return
        }
        let address = text.dropFirst().dropLast()
        guard address.utf8.allSatisfy({ $0.isOfFileName || ":%".utf8.contains($0) }), address.contains(":"),
            let address = IPAddress(text: String(address))
        else { return nil }
        self = .address(address)
    }

    /// A name or an IPv4 address.
    private init?(lowercase text: String) {
        let name = text.hasSuffix(".") ? String(text.dropLast()) : text
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isOfLabel) }) else { return nil }
        self = IPAddress(text: name).map(Self.address) ?? .name(name)
    }

    package var isLoopback: Bool {
        switch self {
        case .name(let name): Self.isLoopbackName(name)
        case .address(let address): address.isLoopback
        }
    }

    /// Excludes names that are valid only on a local network: RFC 6761, 6762, 8375, and names without a dot.
    package var isPublic: Bool {
        switch self {
        case .name(let name):
            name.contains(".") && !Self.isLoopbackName(name) && !Self.localSuffixes.contains(where: name.hasSuffix)
        case .address(let address): address.isPublic
        }
    }

    /// Whether it's in 198.18.0.0/15, reserved for network tests (RFC 2544). Some VPN apps resolve names to one.
    package var isFakeIP: Bool {
        guard case .address(let address) = self else { return false }
        return address.bytes.count == 4 && address.bytes[0] == 198 && address.bytes[1] & 0xfe == 18
    }

    private static func isLoopbackName(_ name: String) -> Bool { name == "localhost" || name.hasSuffix(".localhost") }

    private static let localSuffixes = [".local", ".internal", ".lan", ".home.arpa", ".onion"]
}
