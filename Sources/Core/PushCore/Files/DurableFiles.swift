#if canImport(Darwin)
package import Darwin
#else
package import Glibc
#endif
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Files that are complete or absent, even after a crash: written to a temporary name, synced, and linked into place.
package enum DurableFiles {
    /// The system's error number for a failed operation.
    package struct Failure: Error, Equatable {
        package let code: Int32
        /// The reason why a secret wasn't read.
        package let exposure: Exposure?

        package init(code: Int32, exposure: Exposure? = nil) {
            self.code = code
            self.exposure = exposure
        }

        package var message: String { String(cString: strerror(code)) }
    }

    /// Creates a file; returns false if it already exists. If several processes try at the same time, one succeeds.
    package static func create(
        _ file: URL, holding bytes: [UInt8], staging: URL, mode: UInt16 = 0o600
    ) throws(Failure) -> Bool {
        let temporary = staging.appending(path: "tmp.\(UUID().uuidString.lowercased())")
        try write(bytes, to: temporary, mode: mode)
        defer { unlink(temporary.path(percentEncoded: false)) }
        return try place(temporary, as: file)
    }

    /// Gives a written file its name, atomically and durably; returns false if it's taken. Uses a link or, if the system or
    /// file system refuses, a rename that never replaces a file. The temporary name may remain.
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

    /// Removes the `tmp.` files of killed processes: those that haven't been touched for this many seconds.
    package static func removeUnfinished(in folder: URL, untouchedFor seconds: Int64) {
        for name in (try? names(in: folder)) ?? [] where name.hasPrefix("tmp.") {
            let file = folder.appending(path: name)
            if let age = secondsUntouched(file), age > seconds { unlink(file.path(percentEncoded: false)) }
        }
    }

    /// Returns the seconds since a file, or a folder's list of entries, last changed; nil if it doesn't exist.
    package static func secondsUntouched(_ file: URL) -> Int64? {
        modified(file).map { Int64(time(nil)) - $0 / 1_000_000_000 }
    }

    /// Returns the time at which a file or folder last changed, in nanoseconds since 1970; nil if it doesn't exist.
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

    /// Atomically and durably writes a file, replacing any existing one: readers see the whole old file or the whole
    /// new one. The mode applies from the first byte on.
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

    /// Creates an empty file in place, for a file whose inode matters; does nothing if it exists.
    package static func createEmpty(_ file: URL) throws(Failure) {
        let descriptor = open(file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        defer { close(descriptor) }
        try sync(descriptor)
        try sync(folder: file.deletingLastPathComponent())
    }

    /// Returns the bytes of a path with links and dots resolved, or nil if nothing exists there. A link can lead to a folder
    /// whose name isn't UTF-8.
    package static func real(_ path: String) -> [UInt8]? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return Array(UnsafeRawBufferPointer(start: real, count: byteCount(ofText: real)))
    }

    /// Creates a folder, durably, if it is missing.
    package static func ensureFolder(_ folder: URL, mode: UInt16 = 0o700) throws(Failure) {
        let status = mkdir(folder.path(percentEncoded: false), mode_t(mode))
        let code = errno
        if status != 0, code == EEXIST { return }
        guard status == 0 else { throw Failure(code: code) }
        try sync(folder: folder.deletingLastPathComponent())
    }

    /// Whether a folder is empty. Reads the folder once, regardless of its size.
    package static func isEmpty(folder: URL) throws(Failure) -> Bool {
        guard let stream = opendir(folder.path(percentEncoded: false)) else { throw Failure(code: errno) }
        defer { closedir(stream) }
        // `.` and `..` can appear in any order; a third name is an entry.
        for _ in 1...3 {
            errno = 0
            guard readdir(stream) != nil else {
                guard errno == 0 else { throw Failure(code: errno) }
                return true
            }
        }
        return false
    }

    /// Returns the names in a folder, without `.` and `..`, and without names that aren't UTF-8, which no program of ours
    /// creates: as text, two of them could be the same.
    package static func names(in folder: URL) throws(Failure) -> [String] {
        guard let stream = opendir(folder.path(percentEncoded: false)) else { throw Failure(code: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // The end of the folder, or a read error: a partial list must not pass for a complete one.
                guard errno == 0 else { throw Failure(code: errno) }
                return names
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(strictUTF8: Array(bytes.prefix { $0 != 0 }))
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
    }

    /// Whether a descriptor refers to a regular file, rather than to a pipe, device, or folder.
    package static func isRegular(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Atomically moves a file or folder to another's place. Doesn't sync.
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

    /// Returns once the written data is on the drive. On Apple's systems, fsync(2) leaves data in the drive's cache.
    /// F_FULLFSYNC doesn't, if the file system supports it (fcntl(2) there). Takes milliseconds.
    package static func sync(_ descriptor: Int32) throws(Failure) {
        #if canImport(Darwin)
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        guard errno != EIO else { throw Failure(code: EIO) }
        #endif
        guard fsync(descriptor) == 0 else { throw Failure(code: errno) }
    }

    /// Creates a file that must not exist yet, in place, and syncs it, but not its folder.
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
    /// Available since glibc 2.28, but its headers hide it from Swift.
    private static let renameat2 = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }
    #endif
}

// The system functions that methods of `DurableFiles` shadow.
private func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, start, count)
}
private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, start, count)
}
private func systemRename(_ source: String, _ target: String) -> Int32 { rename(source, target) }

extension DurableFiles {
    /// Reads at most `limit` bytes from the start of a file, in a single array, so that wiping it wipes everything read.
    /// With `anyKind`, pipes and devices are read, too; they may block. Without `followsLinks`, links fail with `ELOOP`.
    /// With `isSecret`, a file that other users can read or replace fails with `EPERM` and the ``Exposure``.
    package static func read(
        _ file: URL, limit: Int, anyKind: Bool = false, isSecret: Bool = false, followsLinks: Bool = true
    ) throws(Failure) -> [UInt8] {
        let descriptor = try opened(file, anyKind: anyKind, followsLinks: followsLinks)
        defer { close(descriptor) }
        if isSecret, let exposure = try Exposure.ofSecret(descriptor, at: file.path(percentEncoded: false)) {
            throw Failure(code: EPERM, exposure: exposure)
        }
        return try readAll(descriptor, limit: limit)
    }

    /// Returns a descriptor to read and close. Without `anyKind`, fails with `EINVAL` if it isn't a regular file.
    package static func opened(_ file: URL, anyKind: Bool, followsLinks: Bool = true) throws(Failure) -> Int32 {
        let flags = O_RDONLY | O_CLOEXEC | (anyKind ? 0 : O_NONBLOCK) | (followsLinks ? 0 : O_NOFOLLOW)
        let path = file.path(percentEncoded: false)
        var descriptor = open(path, flags)
        // A socket, or another user's pipe behind `sudo -u`, can't be opened again.
        if descriptor < 0, path == "/dev/stdin" { descriptor = fcntl(0, F_DUPFD_CLOEXEC, 0) }
        guard descriptor >= 0 else { throw Failure(code: errno) }
        guard anyKind || isRegular(descriptor) else {
            close(descriptor)
            throw Failure(code: EINVAL)
        }
        return descriptor
    }

    /// Reads from the descriptor's position to the end, at most `limit` bytes. Allocates memory for the data, not for the
    /// limit. Outgrown buffers are wiped, since they may hold a secret.
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

    /// In bytes; larger than most files of a keyring.
    private static let firstPiece = 16_384
}

/// Files that only grow, line by line.
extension DurableFiles {
    /// Appends bytes and syncs. Creates the file, for its owner only, if it is missing. Doesn't follow links.
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

    /// Removes an incomplete last line that a killed process left behind. A line of more than `limit` bytes counts as
    /// damaged and is left alone.
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
            // The file contains only a partial line, or a line that is too long to be ours.
            if start == 0, ftruncate(descriptor, 0) != 0 { throw Failure(code: errno) }
            return
        }
        if end + 1 < tail.count, ftruncate(descriptor, start + off_t(end + 1)) != 0 { throw Failure(code: errno) }
    }
}

extension Collection<UInt8> where Index == Int {
    /// The index of the first line end, if there is one. Requires contiguous storage, as in arrays and buffers.
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
    /// Returns the folder of the file at a path, up to its last slash; `.` if the path has none.
    package static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    /// Whether a folder's owner shares it with its group: new files in it belong to that group (setgid), and all others are
    /// shut out. Nobody chooses both by accident. Docs/Decisions/0048-folders-shared-with-a-group.md.
    package static func isSharedWithGroup(_ folder: stat) -> Bool { folder.st_mode & 0o2007 == 0o2000 }
}
