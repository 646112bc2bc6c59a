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

    /// Reads a big-endian number of up to eight bytes.
    package mutating func number(byteCount: Int = 8) -> UInt64? {
        take(byteCount)?.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
