internal import Foundation
internal import _PushBase

/// What the system knows of a file without opening it.
struct FileFacts {
    let kind: Kind
    /// The permission bits.
    let mode: Int
    let byteCount: Int
    /// The system's own note of the last change, of the contents or of anything else.
    let changed: ChangeTime

    struct ChangeTime: Equatable {
        fileprivate let device: UInt64
        fileprivate let number: UInt64
        fileprivate let seconds: Int
        fileprivate let nanoseconds: Int
    }

    enum Kind { case file, folder, link, other }

    /// Nil where there is nothing.
    init?(of file: URL, following: Bool = false) {
        var status = stat()
        let path = file.path(percentEncoded: false)
        guard (following ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        mode = Int(status.st_mode & 0o7777)
        byteCount = Int(status.st_size)
        #if canImport(Darwin)
            let time = status.st_ctimespec
        #else
            let time = status.st_ctim
        #endif
        changed = ChangeTime(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino),
            seconds: time.tv_sec, nanoseconds: time.tv_nsec)
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        case S_IFLNK: kind = .link
        default: kind = .other
        }
    }
}
