package import Foundation
internal import PushCore
package import SealedPush

/// Where an extension goes to fetch something: `https` on the open internet, unless the app allows more.
///
/// An address that a message names must not make a phone talk to the router, printer or server of the network that it is
/// in. So its looks are checked, the addresses its name stands for, and the connection's own where the platform tells it.
extension Fetching {
    /// Checks scheme and host, by their looks alone.
    ///
    /// - Parameter isPrivateAllowed: whether private and local addresses are reached too: the app's choice.
    package func check(_ url: URL, allowingPrivate isPrivateAllowed: Bool) throws(MediaError) {
        guard let host = NetworkHost(url) else { throw .addressRefused }
        guard url.scheme?.lowercased() == "https" || exempts(host) else { throw .notSecure }
        try check(host, allowingPrivate: isPrivateAllowed)
    }

    /// Checks a host, or an address that there is to be a connection to.
    func check(_ host: NetworkHost, allowingPrivate isPrivateAllowed: Bool) throws(MediaError) {
        guard isPrivateAllowed || host.isPublic || exempts(host) else { throw .addressRefused }
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

    /// What a name stands for; none where it can't be looked up.
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

/// Lookups of names, each of which blocks a thread for as long as the network likes: on threads of their own, and given up
/// when their task is cancelled. Such a thread ends when the system's resolver does; there are only so many.
final class LookUps: Sendable {
    /// How many threads are in the resolver, those that were given up among them.
    private let count = Locked(0)
    static let maximumCount = 16
    static let shared = LookUps()

    /// Asks whether there may be a connection to each of the addresses that the host stands for.
    ///
    /// - Throws: `network` where there is none, or the task is cancelled; at once where too many lookups hang already.
    func check(
        _ host: NetworkHost, _ mayConnect: @escaping @Sendable (IPAddress) throws(MediaError) -> Void
    ) async throws(MediaError) {
        switch host {
        case .address(let address): try mayConnect(address)
        case .name(let name):
            try await run { () throws(MediaError) in
                let addresses = IPAddress.addresses(of: name)
                guard !addresses.isEmpty else { throw .network }
                for address in addresses { try mayConnect(address) }
            }
        }
    }

    func run(_ body: @escaping @Sendable () throws(MediaError) -> Void) async throws(MediaError) {
        guard begin() else { throw .network }
        let first = FirstResult<Void, MediaError>()
        StageExecutor.queue().async { [count] in
            first.settle(Result { () throws(MediaError) in try body() })
            count.withLock { $0 -= 1 }
        }
        try await first.value(orCancelled: .network)
    }

    private func begin() -> Bool {
        count.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }
}
