package import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Where an extension goes to fetch something: `https` on the open internet, unless the app allows more.
///
/// An address that a message names must not make a phone talk to the router, printer or server of the network that it is
/// in. Names are looked up before, and the connection's own address is checked where the platform tells it.
package struct NetworkRules: Sendable {
    /// Whether private and local addresses are reached too: the app's choice.
    let allowsPrivateAddresses: Bool
    /// Whether `http` and loopback are: in the simulator only.
    let allowsLoopback: Bool

    package init(allowsPrivateAddresses: Bool, allowsLoopback: Bool) {
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.allowsLoopback = allowsLoopback
    }

    /// Scheme and host, by their looks alone.
    package func check(_ url: URL) throws(MediaError) {
        guard let host = Self.host(of: url) else { throw .addressRefused }
        let isSecure = url.scheme?.lowercased() == "https"
        let isLoopback = Self.isLoopbackName(host) || IPAddress(text: host)?.isLoopback == true
        if allowsLoopback && isLoopback { return }
        guard isSecure else { throw .notSecure }
        if let address = IPAddress(text: host) { return try check(address) }
        guard allowsPrivateAddresses || !Self.isLocalName(host) else { throw .addressRefused }
    }

    /// The addresses that the host's name stands for now. Blocks for as long as the lookup takes.
    package func lookUp(_ url: URL) throws(MediaError) {
        guard let host = Self.host(of: url) else { throw .addressRefused }
        for address in IPAddress.addresses(of: host) { try check(address) }
    }

    package func check(_ address: IPAddress) throws(MediaError) {
        if allowsLoopback && address.isLoopback { return }
        guard allowsPrivateAddresses || address.isPublic else { throw .addressRefused }
    }

    /// In small letters, without the brackets of IPv6 and the dot of a full name.
    private static func host(of url: URL) -> String? {
        guard var host = url.host(percentEncoded: false)?.lowercased() else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix(".") { host.removeLast() }
        return host.isEmpty ? nil : host
    }

    private static func isLoopbackName(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }

    /// Names that mean something on the local network alone: RFC 6761, 6762, 8375, and names without a dot.
    private static func isLocalName(_ host: String) -> Bool {
        isLoopbackName(host) || !host.contains(".")
            || [".local", ".internal", ".lan", ".home.arpa", ".onion"].contains(where: host.hasSuffix)
    }
}
