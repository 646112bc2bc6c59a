import PushCore

/// Public bytes as text: a prefix that identifies their type, then strict base64url without padding.
package struct ArmoredText {
    let prefix: String
    let byteCounts: ClosedRange<Int>

    var characterCounts: ClosedRange<Int> {
        let count = { prefix.utf8.count + Base64URL.textByteCount(of: $0) }
        return count(byteCounts.lowerBound)...count(byteCounts.upperBound)
    }

    package func text(of bytes: [UInt8]) -> String { prefix + Base64URL.encode(bytes) }

    /// Returns nil if the prefix or length is wrong, which is checked first, or if the text isn't canonical.
    package func bytes(of text: String) -> [UInt8]? {
        guard characterCounts.contains(text.utf8.count), text.utf8.starts(with: prefix.utf8) else { return nil }
        return Base64URL.decode(text.utf8.dropFirst(prefix.utf8.count))
    }

    /// Returns the bytes, followed by the first four of their SHA-256.
    package static func appendingChecksum(to bytes: [UInt8]) -> [UInt8] { bytes + checksum(of: bytes[...]) }

    /// Returns the bytes before the checksum, or nil if the checksum is wrong.
    package static func removingChecksum(from bytes: [UInt8]) -> [UInt8]? {
        let content = bytes.dropLast(checksumByteCount)
        guard bytes.suffix(checksumByteCount) == checksum(of: content) else { return nil }
        return Array(content)
    }

    package static let checksumByteCount = 4

    private static func checksum(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        bytes.withUnsafeBytes { SHA256.hash($0) }.prefix(checksumByteCount)
    }
}
