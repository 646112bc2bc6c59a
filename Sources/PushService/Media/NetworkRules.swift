package import Foundation
internal import _PushBase

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
        guard !host.contains(":") else { throw .addressRefused }
        guard allowsPrivateAddresses || !Self.isLocalName(host) else { throw .addressRefused }
    }

    /// The addresses that the host's name stands for now; a name that stands for none is refused. Blocks for as long as the
    /// lookup takes.
    package func lookUp(_ url: URL) throws(MediaError) {
        guard let host = Self.host(of: url) else { throw .addressRefused }
        let addresses = IPAddress.addresses(of: host)
        guard !addresses.isEmpty else { throw .network }
        for address in addresses { try check(address) }
    }

    package func check(_ address: IPAddress) throws(MediaError) {
        if allowsLoopback && address.isLoopback { return }
        guard allowsPrivateAddresses || address.isPublic else { throw .addressRefused }
    }

    /// In small letters, without the brackets of IPv6 and the dot of a full name. Nil for anything but an address in brackets,
    /// and letters, digits, hyphens and dots: what a loader might map to another host is no host.
    private static func host(of url: URL) -> String? {
        guard var host = url.host(percentEncoded: true)?.lowercased() else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { return String(host.dropFirst().dropLast()) }
        if host.contains(":") { return host }
        // In brackets, there is nothing but an address.
        guard !url.absoluteString.contains("//[") else { return nil }
        if host.hasSuffix(".") { host.removeLast() }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isOfName) }) else { return nil }
        return host
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    private static func isLoopbackName(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }

    /// Names that mean something on the local network alone: RFC 6761, 6762, 8375, and names without a dot.
    private static func isLocalName(_ host: String) -> Bool {
        isLoopbackName(host) || !host.contains(".")
            || [".local", ".internal", ".lan", ".home.arpa", ".onion"].contains(where: host.hasSuffix)
    }
}

extension StageContext {
    /// Where a stage may go on this device.
    func networkRules(allowsPrivateAddresses: Bool) -> NetworkRules {
        NetworkRules(allowsPrivateAddresses: allowsPrivateAddresses, allowsLoopback: allowsLoopback)
    }
}
