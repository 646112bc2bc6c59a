package import Foundation
package import SealedPush

/// The rules for where an extension may fetch from: `https` on the open internet, unless the app allows more. An address in
/// a message must not make a phone talk to a router, printer, or server on its own network. So the rules check the URL, the
/// addresses that its name resolves to and, if the platform reports it, the connection's own address.
extension Fetching {
    /// Checks the scheme and host by their text alone.
    package func check(_ url: URL, reaching reach: NetworkReach) throws(MediaError) {
        guard let host = NetworkHost(url) else { throw .addressRefused }
        guard url.scheme?.lowercased() == "https" || exempts(host) else { throw .notSecure }
        try check(host, reaching: reach)
    }

    /// Checks a host, or an address before connecting to it.
    func check(_ host: NetworkHost, reaching reach: NetworkReach) throws(MediaError) {
        guard reach.allows(host) || exempts(host) else { throw .addressRefused }
    }
}

extension IPAddress {
    package init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
                })
        case AF_INET6:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
                })
        default: return nil
        }
    }

    /// Returns the addresses that a name resolves to; empty if it can't be looked up.
    static func addresses(of host: String) -> [IPAddress] {
        var hints = addrinfo()
        #if canImport(Darwin)
        hints.ai_socktype = SOCK_STREAM
        #else
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: [IPAddress] = []
        var next = first
        while let entry = next {
            if let address = entry.pointee.ai_addr.flatMap({ IPAddress(UnsafePointer($0)) }) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }
}
