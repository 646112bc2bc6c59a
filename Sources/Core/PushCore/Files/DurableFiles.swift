#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Files that are whole or not there, also after a crash: written aside, synced, linked into place.
package enum DurableFiles {
    /// What went wrong, as the system's error number.
    package struct Failure: Error, Equatable {
        package let code: Int32

        package init(code: Int32) { self.code = code }

        package var message: String { String(cString: strerror(code)) }
    }

    /// Makes a file that must not exist yet; false where it does. Several processes may try at once: one succeeds.
    package static func create(
        _ file: URL, holding bytes: [UInt8], staging: URL, mode: UInt16 = 0o600
    ) throws(Failure) -> Bool {
        let temporary = staging.appending(path: "tmp.\(UUID().uuidString.lowercased())")
        try write(bytes, to: temporary, mode: mode)
        defer { unlink(temporary.path(percentEncoded: false)) }
        return try place(temporary, as: file)
    }

    /// Gives a written file its name, in one step and lasting, unless that name is taken: then false.
    ///
    /// By a link; where the system or the file system refuses links, by a rename that replaces nothing. Afterwards the
    /// temporary name may be there or not.
    package static func place(_ temporary: URL, as file: URL) throws(Failure) -> Bool {
        let (old, new) = (temporary.path(percentEncoded: false), file.path(percentEncoded: false))
        if link(old, new) != 0 {
            if errno == EEXIST { return false }
            let status = systemRenameExclusively(old, new)
            let code = errno
            if status != 0, code == EEXIST { return false }
            guard status == 0 else { throw Failure(code: code) }
        }
        try sync(folder: file.deletingLastPathComponent())
        return true
    }

    /// Removes what processes that were killed have left: `tmp.` files that nobody has touched for some seconds.
    package static func removeUnfinished(in folder: URL, untouchedFor seconds: Int64) {
        for name in (try? names(in: folder)) ?? [] where name.hasPrefix("tmp.") {
            let file = folder.appending(path: name)
            if let age = secondsUntouched(file), age > seconds { unlink(file.path(percentEncoded: false)) }
        }
    }

    /// For how long nobody has changed a file, or what is in a folder; nil where there is none.
    package static func secondsUntouched(_ file: URL) -> Int64? {
        modified(file).map { Int64(time(nil)) - $0 / 1_000_000_000 }
    }

    /// When a file was changed last, or what is in a folder, in nanoseconds since 1970; nil where there is none.
    package static func modified(_ file: URL) -> Int64? {
        var status = stat()
        guard lstat(file.path(percentEncoded: false), &status) == 0 else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Puts a file in another's place, or where there is none, in one step and lasting: whoever reads it sees the old one whole or
    /// the new one. It has its mode from its first byte on.
    package static func replace(_ file: URL, with bytes: [UInt8], mode: UInt16) throws(Failure) {
        let folder = file.deletingLastPathComponent()
        let temporary = folder.appending(path: "tmp.\(UUID().uuidString.lowercased())")
        try write(bytes, to: temporary, mode: mode)
        do throws(Failure) { try rename(temporary, to: file) } catch {
            unlink(temporary.path(percentEncoded: false))
            throw error
        }
        try sync(folder: folder)
    }

    /// Makes an empty file in place, for one whose own inode matters; does nothing where it exists.
    package static func createEmpty(_ file: URL) throws(Failure) {
        let descriptor = open(file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        defer { close(descriptor) }
        try sync(descriptor)
        try sync(folder: file.deletingLastPathComponent())
    }

    /// A path without links and dots; nil where there is nothing.
    package static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Makes a folder if it is missing, and makes that last.
    package static func ensureFolder(_ folder: URL, mode: UInt16 = 0o700) throws(Failure) {
        let status = mkdir(folder.path(percentEncoded: false), mode_t(mode))
        let code = errno
        if status != 0, code == EEXIST { return }
        guard status == 0 else { throw Failure(code: code) }
        try sync(folder: folder.deletingLastPathComponent())
    }

    /// Whether a folder holds nothing; costs one read of it, however much it holds.
    package static func isEmpty(folder: URL) throws(Failure) -> Bool {
        guard let stream = opendir(folder.path(percentEncoded: false)) else { throw Failure(code: errno) }
        defer { closedir(stream) }
        // `.` and `..` come in any order; a third name is something.
        for _ in 1...3 {
            errno = 0
            guard readdir(stream) != nil else {
                guard errno == 0 else { throw Failure(code: errno) }
                return true
            }
        }
        return false
    }

    /// The names in a folder, without `.` and `..`.
    package static func names(in folder: URL) throws(Failure) -> [String] {
        guard let stream = opendir(folder.path(percentEncoded: false)) else { throw Failure(code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // The end, or a folder that can't be read on: half a list would pass for a whole one.
                guard errno == 0 else { throw Failure(code: errno) }
                return names
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Whether a descriptor is of a file, and of no pipe, device or folder.
    package static func isRegular(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Puts a file or folder in another's place, at once; syncs nothing.
    package static func rename(_ source: URL, to target: URL) throws(Failure) {
        guard systemRename(source.path(percentEncoded: false), target.path(percentEncoded: false)) == 0 else {
            throw Failure(code: errno)
        }
    }

    package static func sync(folder: URL) throws(Failure) {
        let descriptor = open(folder.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        defer { close(descriptor) }
        try sync(descriptor)
    }

    /// Returns when what was written is on the drive.
    ///
    /// On Apple's systems fsync(2) leaves it in the drive's own memory; F_FULLFSYNC does not, where the file system has it
    /// (fcntl(2) there). It costs milliseconds.
    package static func sync(_ descriptor: Int32) throws(Failure) {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
            guard errno != EIO else { throw Failure(code: EIO) }
        #endif
        guard fsync(descriptor) == 0 else { throw Failure(code: errno) }
    }

    /// Makes a file that must not exist yet, in place, and syncs it; not the folder.
    package static func write(_ bytes: [UInt8], to file: URL, mode: UInt16) throws(Failure) {
        let descriptor = open(file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw Failure(code: errno) }
        defer { close(descriptor) }
        do throws(Failure) {
            try writeAll(bytes, to: descriptor)
            try sync(descriptor)
        } catch {
            unlink(file.path(percentEncoded: false))
            throw error
        }
    }

    package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, Failure> in
            do throws(Failure) { return .success(try writeAll(bytes, to: descriptor)) } catch { return .failure(error) }
        }
        try result.get()
    }

    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(Failure) {
        var rest = bytes
        while !rest.isEmpty {
            let length = systemWrite(descriptor, rest.baseAddress!, rest.count)
            if length < 0, errno == EINTR { continue }
            guard length > 0 else { throw Failure(code: length < 0 ? errno : EIO) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length))
        }
    }

    private static func systemRenameExclusively(_ source: String, _ target: String) -> Int32 {
        #if canImport(Darwin)
            renamex_np(source, target, UInt32(RENAME_EXCL))
        #else
            // RENAME_NOREPLACE is 1 (rename(2)).
            renameat2?(AT_FDCWD, source, AT_FDCWD, target, 1) ?? -1
        #endif
    }

    #if !canImport(Darwin)
        private typealias RenameAt2 =
            @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
        /// glibc's since 2.28; its headers hide it from Swift.
        private static let renameat2 = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }
    #endif
}

// The system's functions, whose names are taken inside of `DurableFiles`.
private func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, start, count)
}
private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, start, count)
}
private func systemRename(_ source: String, _ target: String) -> Int32 { rename(source, target) }

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
            let length = bytes.withUnsafeMutableBytes {
                systemRead(descriptor, $0.baseAddress! + count, $0.count - count)
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

    /// Cuts off a last line that a killed process left half written.
    ///
    /// - Parameter limit: the longest line in bytes; a longer one counts as damaged and is left alone.
    package static func cutUnfinishedLine(of file: URL, limit: Int) throws(Failure) {
        let descriptor = open(file.path(percentEncoded: false), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
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
            return
        }
        if end + 1 < tail.count, ftruncate(descriptor, start + off_t(end + 1)) != 0 { throw Failure(code: errno) }
    }
}

/// Reads a file of any length line by line, in constant memory. The file is closed when this goes.
package struct LineReader: ~Copyable {
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

    deinit { close(descriptor) }

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
