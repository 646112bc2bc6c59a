import PushCore

/// Public bytes as text: a prefix that says what they are, then base64url without padding, strictly.
package struct ArmouredText {
    let prefix: String
    /// How many bytes there may be.
    let byteCounts: ClosedRange<Int>

    var characterCounts: ClosedRange<Int> {
        let count = { prefix.utf8.count + Base64URL.textByteCount(of: $0) }
        return count(byteCounts.lowerBound)...count(byteCounts.upperBound)
    }

    package func text(of bytes: [UInt8]) -> String { prefix + Base64URL.encode(bytes) }

    /// Nil for another prefix, another length, or what is not canonical; the length is looked at first.
    package func bytes(of text: String) -> [UInt8]? {
        guard characterCounts.contains(text.utf8.count), text.utf8.starts(with: prefix.utf8) else { return nil }
        return Base64URL.decode(text.utf8.dropFirst(prefix.utf8.count))
    }

    /// The bytes, and the first four of their SHA-256.
    package static func appendingChecksum(to bytes: [UInt8]) -> [UInt8] { bytes + checksum(of: bytes[...]) }

    /// The bytes before the checksum; nil where it is another's.
    package static func removingChecksum(from bytes: [UInt8]) -> [UInt8]? {
        let content = bytes.dropLast(checksumByteCount)
        guard bytes.suffix(checksumByteCount) == checksum(of: content) else { return nil }
        return Array(content)
    }

    static func lengthened(_ byteCounts: ClosedRange<Int>, by count: Int) -> ClosedRange<Int> {
        byteCounts.lowerBound + count...byteCounts.upperBound + count
    }

    package static let checksumByteCount = 4

    private static func checksum(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.withUnsafeBytes { SHA256.hash($0) }.prefix(checksumByteCount)
    }
}
