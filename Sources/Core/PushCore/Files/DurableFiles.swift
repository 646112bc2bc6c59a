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

        /// The system's own words.
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

    /// Whether there are no bytes in a file.
    package static func isEmpty(_ file: URL) throws(Failure) -> Bool {
        var status = stat()
        guard lstat(file.path(percentEncoded: false), &status) == 0 else { throw Failure(code: errno) }
        return status.st_size == 0
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
            let length = systemWrite(descriptor, rest)
            if length < 0, errno == EINTR { continue }
            guard length > 0 else { throw Failure(code: length < 0 ? errno : EIO) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length))
        }
    }

    private static func systemRename(_ source: String, _ target: String) -> Int32 {
        #if canImport(Darwin)
            Darwin.rename(source, target)
        #else
            Glibc.rename(source, target)
        #endif
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

    private static func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
            Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        #else
            Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        #endif
    }
}
