package import Foundation
internal import PushCore

/// Where an extension goes to fetch something: `https` on the open internet, unless the app allows more.
///
/// An address that a message names must not make a phone talk to the router, printer or server of the network that it is
/// in. So its looks are checked, the addresses its name stands for, and the connection's own where the platform tells it.
package struct NetworkRules: Sendable {
    /// Whether private and local addresses are reached too: the app's choice.
    let allowsPrivateAddresses: Bool

    package init(allowsPrivateAddresses: Bool) { self.allowsPrivateAddresses = allowsPrivateAddresses }

    /// Scheme and host, by their looks alone.
    package func check(_ url: URL) throws(MediaError) {
        guard let host = NetworkHost(url) else { throw .addressRefused }
        guard url.scheme?.lowercased() == "https" else { throw .notSecure }
        try check(host)
    }

    package func check(_ host: NetworkHost) throws(MediaError) {
        guard allowsPrivateAddresses || host.isPublic else { throw .addressRefused }
    }
}

/// Who a request goes to, as its URL says.
package enum NetworkHost: Hashable, Sendable {
    /// In small letters, without the dot of a full name.
    case name(String)
    case address(IPAddress)

    /// Nil for anything but an address, and letters, digits, hyphens and dots: what a loader might map to another host is no
    /// host. Nil, too, with a user or password: nothing is fetched with credentials.
    package init?(_ url: URL) {
        guard var text = url.host(percentEncoded: true)?.lowercased(), url.user() == nil, url.password() == nil
        else { return nil }
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        if text.contains(":") {
            guard let address = IPAddress(text: text) else { return nil }
            self = .address(address)
            return
        }
        // In brackets, there is nothing but an address.
        guard !url.absoluteString.contains("//[") else { return nil }
        if text.hasSuffix(".") { text.removeLast() }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isOfLabel) }) else { return nil }
        self = IPAddress(text: text).map(Self.address) ?? .name(text)
    }

    package var isLoopback: Bool {
        switch self {
        case .name(let name): Self.isLoopbackName(name)
        case .address(let address): address.isLoopback
        }
    }

    /// Not the names that mean something on the local network alone: RFC 6761, 6762, 8375, and names without a dot.
    var isPublic: Bool {
        switch self {
        case .name(let name):
            name.contains(".") && !Self.isLoopbackName(name) && !Self.localSuffixes.contains(where: name.hasSuffix)
        case .address(let address): address.isPublic
        }
    }

    private static func isLoopbackName(_ name: String) -> Bool { name == "localhost" || name.hasSuffix(".localhost") }

    private static let localSuffixes = [".local", ".internal", ".lan", ".home.arpa", ".onion"]
}
