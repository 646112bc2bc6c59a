package import Foundation
internal import PushCore

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

/// An IPv4 or IPv6 address, and whether it is one of the open internet's.
package struct IPAddress: Hashable, Sendable {
    /// 4 or 16.
    let bytes: [UInt8]

    /// Reads every way to write one that the system's own resolver reads: `127.1`, `0x7f000001` and `2130706433` are all
    /// the same.
    package init?(text: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        // A zone (`fe80::1%en0`) names a link: the address before it says what matters.
        let withoutZone = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false).first.map(
            String.init)
        if let withoutZone, inet_pton(AF_INET6, withoutZone, &v6) == 1 {
            bytes = withUnsafeBytes(of: &v6) { Array($0) }
        } else if inet_aton(text, &v4) != 0 {
            bytes = withUnsafeBytes(of: &v4) { Array($0) }
        } else {
            return nil
        }
    }

    package init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
            }
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

    package var isLoopback: Bool {
        if let v4 = embeddedV4 { return v4[0] == 127 }
        return bytes == Self.v6Loopback
    }

    /// Not private, local, reserved, documentation, multicast or broadcast. Source: IANA's registries of special-purpose
    /// addresses (RFC 6890 and its successors).
    package var isPublic: Bool {
        if let v4 = embeddedV4 { return !Self.specialV4.contains { Self.has(v4, $0.prefix, $0.bitCount) } }
        // Only 2000::/3 is given out; what wraps an IPv4 address was looked at above.
        guard Self.has(bytes, [0x20], 3) else { return false }
        return !Self.specialV6.contains { Self.has(bytes, $0.prefix, $0.bitCount) }
    }

    /// Of an IPv4 address, or of an IPv6 address that stands for one: mapped, NAT64 (RFC 6052), 6to4.
    private var embeddedV4: [UInt8]? {
        if bytes.count == 4 { return bytes }
        if Self.has(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96) { return Array(bytes[12...]) }
        if Self.has(bytes, [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96) { return Array(bytes[12...]) }
        if Self.has(bytes, [0x20, 0x02], 16) { return Array(bytes[2..<6]) }
        return nil
    }

    private static func has(_ bytes: [UInt8], _ prefix: [UInt8], _ bitCount: Int) -> Bool {
        let whole = bitCount / 8
        guard bytes.prefix(whole).elementsEqual(prefix.prefix(whole)) else { return false }
        let rest = bitCount % 8
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xff << (8 - rest))
        return bytes[whole] & mask == prefix[whole] & mask
    }

    private static let v6Loopback: [UInt8] = Array(repeating: 0, count: 15) + [1]
    private static let specialV4: [(prefix: [UInt8], bitCount: Int)] = [
        ([0], 8), ([10], 8), ([100, 64], 10), ([127], 8), ([169, 254], 16), ([172, 16], 12), ([192, 0, 0], 24),
        ([192, 0, 2], 24), ([192, 88, 99], 24), ([192, 168], 16), ([198, 18], 15), ([198, 51, 100], 24),
        ([203, 0, 113], 24), ([224], 4), ([240], 4),
    ]
    /// Within 2000::/3: IETF protocols and Teredo, documentation, segment routing.
    private static let specialV6: [(prefix: [UInt8], bitCount: Int)] = [
        ([0x20, 0x01, 0], 23), ([0x20, 0x01, 0x0d, 0xb8], 32), ([0x3f, 0xff, 0], 20),
    ]
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

    /// The same for anything that blocks.
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
