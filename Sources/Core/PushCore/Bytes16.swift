package struct Bytes16: Sendable {
    package static let byteCount = 16
    private let words: (UInt64, UInt64)

    init(_ bytes: UnsafeRawBufferPointer) {
        words = (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: words, body)
    }
}
