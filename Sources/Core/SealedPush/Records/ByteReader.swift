/// Reads bytes from the front. If there are too few, returns nil and doesn't advance.
package struct ByteReader {
    private let bytes: [UInt8]
    package private(set) var position = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    package mutating func next() -> UInt8? { take(1)?.first }

    package mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= bytes.count - position else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads eight bytes, big endian.
    package mutating func number() -> UInt64? { take(8)?.reduce(0) { $0 << 8 | UInt64($1) } }
}
