#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

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
    package static func forEachLine(
        of file: URL, limit: Int, _ body: (ArraySlice<UInt8>) -> Void
    ) throws(Failure) {
        var reader = try LineReader(file, limit: limit)
        defer { reader.close() }
        while let line = try reader.next() { body(line[...]) }
    }
}
