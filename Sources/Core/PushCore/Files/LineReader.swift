#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads a file of any length line by line in constant memory. The file is closed on deallocation.
package struct LineReader: ~Copyable {
    private let descriptor: Int32
    private let limit: Int
    private let totalLimit: Int
    private var piece: ArraySlice<UInt8> = []
    private var byteCount = 0

    /// Truncates a line longer than `limit` to one byte more than that. A file larger than `totalLimit` bytes fails with
    /// `EFBIG`. With `anyKind`, pipes and devices are read, too; they may block.
    package init(_ file: URL, limit: Int, totalLimit: Int = .max, anyKind: Bool = false) throws(DurableFiles.Failure) {
        descriptor = try DurableFiles.opened(file, anyKind: anyKind)
        self.limit = limit
        self.totalLimit = totalLimit
    }

    /// Returns the next line without its line feed, which the last line may lack; nil at the end.
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

    deinit { close(descriptor) }

    private static let pieceByteCount = 65_536
}
