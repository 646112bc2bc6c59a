#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Reads a file of any length line by line, in constant memory. Whoever makes one closes it.
package struct LineReader {
    private let descriptor: Int32
    private let limit: Int
    private let totalLimit: Int
    private var piece: ArraySlice<UInt8> = []
    private var byteCount = 0

    /// - Parameters:
    ///   - limit: a longer line is handed over cut, one byte longer than this.
    ///   - totalLimit: a file with more bytes is refused, with `EFBIG`.
    ///   - anyKind: whether pipes and devices are read too; they may block.
    package init(
        _ file: URL, limit: Int, totalLimit: Int = .max, anyKind: Bool = false
    ) throws(DurableFiles.Failure) {
        descriptor = try DurableFiles.opened(file, anyKind: anyKind)
        self.limit = limit
        self.totalLimit = totalLimit
    }

    package func close() {
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #else
            _ = Glibc.close(descriptor)
        #endif
    }

    /// A line without its end, also a last one that has none; nil at the end.
    package mutating func next() throws(DurableFiles.Failure) -> [UInt8]? {
        var line: [UInt8] = []
        var isBegun = false
        while true {
            if piece.isEmpty {
                piece = try DurableFiles.readAll(descriptor, limit: Self.pieceByteCount)[...]
                byteCount += piece.count
                guard byteCount <= totalLimit else { throw DurableFiles.Failure(code: EFBIG) }
                guard !piece.isEmpty else { return isBegun ? line : nil }
            }
            isBegun = true
            let end = piece.lineEnd
            line += piece[..<(end ?? piece.endIndex)].prefix(limit + 1 - line.count)
            piece = end.map { piece[($0 + 1)...] } ?? []
            if end != nil { return line }
        }
    }

    private static let pieceByteCount = 65_536
}

extension Collection<UInt8> where Index == Int {
    /// Where the first line ends, if it does, of bytes that lie in a row, as arrays' and buffers' do.
    package var lineEnd: Int? {
        let offset = withContiguousStorageIfAvailable { bytes -> Int? in
            guard let start = bytes.baseAddress, let end = memchr(start, Int32(UInt8(ascii: "\n")), bytes.count) else {
                return nil
            }
            return UnsafeRawPointer(end) - UnsafeRawPointer(start)
        }
        guard case let offset?? = offset else { return nil }
        return startIndex + offset
    }
}
