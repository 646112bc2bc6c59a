#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension DurableFiles {
    /// At most `limit` bytes from the start of a file, in one array, so that a caller who wipes it has wiped all.
    ///
    /// - Parameters:
    ///   - anyKind: whether pipes and devices are read too; they may block.
    ///   - followsLinks: whether a link is followed; otherwise it is refused, with `ELOOP`.
    ///   - isSecret: whether a file that others may read is refused, with `EPERM`: see ``isExposed(_:)``.
    package static func read(
        _ file: URL, limit: Int, anyKind: Bool = false, isSecret: Bool = false, followsLinks: Bool = true
    ) throws(Failure) -> [UInt8] {
        let descriptor = try opened(file, anyKind: anyKind, followsLinks: followsLinks)
        defer { close(descriptor) }
        guard !isSecret || !isExposed(descriptor) else { throw Failure(code: EPERM) }
        return try readAll(descriptor, limit: limit)
    }

    /// A descriptor for reading, which the caller closes. What is no file is refused, with `EINVAL`, unless `anyKind`.
    static func opened(_ file: URL, anyKind: Bool, followsLinks: Bool = true) throws(Failure) -> Int32 {
        let flags = O_RDONLY | O_CLOEXEC | (anyKind ? 0 : O_NONBLOCK) | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = open(file.path(percentEncoded: false), flags)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        guard anyKind || isRegular(descriptor) else {
            close(descriptor)
            throw Failure(code: EINVAL)
        }
        return descriptor
    }

    /// Whether a file with a secret is open to others: one's own to anybody else, another user's (root's, say) to more than
    /// the reading of its group, which that user has chosen. Never so for pipes and devices.
    ///
    /// OpenSSH's rule for private keys, and a little more.
    package static func isExposed(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_mode & (status.st_uid == geteuid() ? 0o077 : 0o027) != 0
    }

    /// From where the descriptor stands to the end, at most `limit` bytes.
    ///
    /// Takes memory for what is there, not for the limit. What it outgrows is wiped, as it may be a secret.
    package static func readAll(_ descriptor: Int32, limit: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(limit, firstPiece))
        var count = 0
        while count < limit {
            if count == bytes.count {
                var larger = [UInt8](repeating: 0, count: min(limit, 4 * count))
                larger.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
                wipe(&bytes)
                bytes = larger
            }
            let length = bytes.withUnsafeMutableBytes { buffer in
                systemRead(descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            }
            if length < 0, errno == EINTR { continue }
            guard length >= 0 else { throw Failure(code: errno) }
            guard length > 0 else { break }
            count += length
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// In bytes: more than most files of a keyring have.
    private static let firstPiece = 16_384

    private static func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #else
            Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }
}

/// Files that only grow, line by line.
extension DurableFiles {
    /// Appends bytes and syncs; makes the file, for its owner alone, if it is missing. Follows no link.
    package static func append(_ bytes: [UInt8], to file: URL) throws(Failure) {
        let descriptor = open(
            file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
            0o600)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        defer { close(descriptor) }
        guard isRegular(descriptor) else { throw Failure(code: EINVAL) }
        try writeAll(bytes, to: descriptor)
        try sync(descriptor)
        try sync(folder: file.deletingLastPathComponent())
    }

    /// The last line, without its end; empty where there is none. A line that a killed process left half written is
    /// cut off first.
    ///
    /// - Parameter limit: the longest line in bytes; a longer one counts as damaged and is left alone.
    package static func repairedLastLine(of file: URL, limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = open(file.path(percentEncoded: false), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw Failure(code: errno)
        }
        defer { close(descriptor) }
        guard isRegular(descriptor) else { throw Failure(code: EINVAL) }
        let size = lseek(descriptor, 0, SEEK_END)
        let start = max(0, size - off_t(2 * limit))
        lseek(descriptor, start, SEEK_SET)
        let tail = try readAll(descriptor, limit: 2 * limit)
        guard let end = tail.lastIndex(of: UInt8(ascii: "\n")) else {
            // Nothing but half a line, or one that is too long to be ours.
            if start == 0, ftruncate(descriptor, 0) != 0 { throw Failure(code: errno) }
            return []
        }
        if end + 1 < tail.count, ftruncate(descriptor, start + off_t(end + 1)) != 0 { throw Failure(code: errno) }
        let before = tail[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return Array(tail[before..<end])
    }

    /// Hands over each line without its end, also a last one that has none; memory stays constant.
    ///
    /// - Parameter limit: a longer line is handed over cut, one byte longer than this.
    package static func forEachLine(of file: URL, limit: Int, _ body: (ArraySlice<UInt8>) -> Void) throws(Failure) {
        var reader = try LineReader(file, limit: limit)
        defer { reader.close() }
        while let line = try reader.next() { body(line[...]) }
    }
}

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
    package init(_ file: URL, limit: Int, totalLimit: Int = .max, anyKind: Bool = false) throws(DurableFiles.Failure) {
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

extension DurableFiles {
    /// Who else may put files into a folder.
    package enum Stranger: Sendable {
        /// It belongs to another user.
        case owner
        /// Its mode lets others write.
        case writers
    }

    /// Who else may put files into a folder, so that what lies there need not be this user's; nil where nobody may, and where
    /// there is nothing. Links are followed.
    ///
    /// What belongs to root is as safe as one's own. Sticky folders are not: nobody takes away another's file there, but
    /// anybody may be the first to make one.
    package static func stranger(in folder: URL) -> Stranger? {
        var facts = stat()
        guard stat(folder.path(percentEncoded: false), &facts) == 0 else { return nil }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else { return .owner }
        return facts.st_mode & 0o022 == 0 ? nil : .writers
    }
}
