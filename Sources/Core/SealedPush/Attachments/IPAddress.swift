internal import PushCore

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
package import Foundation
#endif

/// An IPv4 or IPv6 address, and whether it belongs to the public internet.
package struct IPAddress: Hashable, Sendable {
    /// The address's 4 or 16 bytes.
    package let bytes: [UInt8]
    package var isV4: Bool { bytes.count == 4 }

    /// Parses every spelling that the system's resolver accepts: `127.1`, `0x7f000001`, and `2130706433` are one address.
    package init?(text: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        // A zone (`fe80::1%en0`) names a link; the address before it is the part that matters.
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

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package var isLoopback: Bool {
        if let v4 = embeddedV4 { return v4[0] == 127 }
        return bytes == Self.v6Loopback
    }

    /// Whether the address isn't private, local, reserved, multicast, broadcast, or for documentation. Source: IANA's
    /// special-purpose address registries (RFC 6890 and its successors).
    package var isPublic: Bool {
        if let v4 = embeddedV4 { return !Self.specialV4.contains { Self.has(v4, $0.prefix, $0.bitCount) } }
        // Only 2000::/3 is allocated; addresses that embed an IPv4 address were checked above.
        guard Self.has(bytes, [0x20], 3) else { return false }
        return !Self.specialV6.contains { Self.has(bytes, $0.prefix, $0.bitCount) }
    }

    /// The bytes of an IPv4 address, or of the one embedded in an IPv6 address: mapped, 6to4, or NAT64 (RFC 6052, and the
    /// prefix of the NAT64 network that a Mac can create for tests).
    private var embeddedV4: [UInt8]? {
        if bytes.count == 4 { return bytes }
        if Self.has(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96) { return Array(bytes[12...]) }
        if Self.has(bytes, [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0], 96) { return Array(bytes[12...]) }
        if Self.has(bytes, [0x20, 0x01, 0, 0x02, 0, 0, 0x1b, 0xaa, 0, 0, 0, 0], 96) { return Array(bytes[12...]) }
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
    /// Within 2000::/3: IETF protocols and Teredo, documentation, and segment routing.
    private static let specialV6: [(prefix: [UInt8], bitCount: Int)] = [
        ([0x20, 0x01, 0], 23), ([0x20, 0x01, 0x0d, 0xb8], 32), ([0x3f, 0xff, 0], 20),
    ]
}
