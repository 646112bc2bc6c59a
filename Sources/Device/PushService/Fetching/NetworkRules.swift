package import Foundation
internal import PushCore
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

/// Looks up names. A lookup can block a thread indefinitely, so each has its own thread and is abandoned when its task is
/// canceled. An abandoned thread ends when the system's resolver does; the number of threads is limited.
final class LookUps: Sendable {
    /// The number of threads in the resolver, including abandoned ones.
    private let count = Locked(0)
    static let maximumCount = 16
    static let shared = LookUps()
    private let addresses: @Sendable (String) -> [IPAddress]

    init(_ addresses: @escaping @Sendable (String) -> [IPAddress] = IPAddress.addresses) { self.addresses = addresses }

    /// Checks whether a connection to each of the host's addresses is allowed, and returns the network's NAT64 prefixes. An
    /// address that the NAT64 made from an IPv4 address counts as that address. Throws `network` if there is no address or
    /// the task is canceled; immediately if too many lookups are already stuck.
    func check(
        _ host: NetworkHost, _ mayConnect: @escaping @Sendable (IPAddress) throws(MediaError) -> Void
    ) async throws(MediaError) -> NAT64 {
        guard case .name(let name) = host else {
            if case .address(let address) = host { try mayConnect(address) }
            return NAT64()
        }
        return try await run { [addresses] () throws(MediaError) in
            let found = addresses(name)
            guard !found.isEmpty else { throw .network }
            // A company's own prefix looks like any other address.
            let network = found.contains { !$0.isV4 } ? NAT64(of: addresses(NAT64.wellKnownName)) : NAT64()
            for address in found { try mayConnect(network.original(of: address) ?? address) }
            return network
        }
    }

    func run<Answer: Sendable>(
        _ body: @escaping @Sendable () throws(MediaError) -> Answer
    ) async throws(MediaError) -> Answer {
        guard begin() else { throw .network }
        let first = FirstResult<Answer, MediaError>()
        StageExecutor.queue().async { [count] in
            first.settle(Result { () throws(MediaError) in try body() })
            count.withLock { $0 -= 1 }
        }
        return try await first.value(orCanceled: .network)
    }

    private func begin() -> Bool {
        count.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }
}

/// How an IPv6-only network reaches IPv4 addresses: the prefixes of its NAT64, derived from its answer for a name that has
/// two known IPv4 addresses and no others. Source: RFC 7050, section 3; RFC 6052, section 2.2.
struct NAT64: Sendable {
    private var prefixes: Set<Prefix> = []
    static let wellKnownName = "ipv4only.arpa"

    private struct Prefix: Hashable {
        let bytes: [UInt8]
        /// The positions of the IPv4 address's four bytes.
        let places: [Int]
    }

    /// No prefixes.
    init() {}

    /// - Parameter addresses: The addresses of ``wellKnownName``.
    init(of addresses: [IPAddress]) {
        for bytes in addresses.map(\.bytes) where bytes.count == 16 {
            for places in Self.layouts where Self.known.contains(places.map { bytes[$0] }) {
                prefixes.insert(Prefix(bytes: Array(bytes[..<places[0]]), places: places))
            }
        }
    }

    /// Returns the IPv4 address that an IPv6 address of this network stands for, if any.
    func original(of address: IPAddress) -> IPAddress? {
        guard address.bytes.count == 16 else { return nil }
        return prefixes.first { address.bytes.starts(with: $0.bytes) }
            .map { prefix in IPAddress(bytes: prefix.places.map { address.bytes[$0] }) }
    }

    private static let known: [[UInt8]] = [[192, 0, 0, 170], [192, 0, 0, 171]]
    /// For prefixes of 32, 40, 48, 56, 64, and 96 bits. Byte 8 is always 0.
    private static let layouts = [
        [4, 5, 6, 7], [5, 6, 7, 9], [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15],
    ]
}
