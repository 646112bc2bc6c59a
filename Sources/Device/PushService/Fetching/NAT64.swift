internal import SealedPush

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
