internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// What the system knows of a file without opening it.
struct FileFacts {
    let kind: Kind
    /// The permission bits.
    let mode: Int
    let byteCount: Int

    enum Kind { case file, folder, link, other }

    /// Nil where there is nothing.
    init?(of file: URL, following: Bool = false) {
        var status = stat()
        let path = file.path(percentEncoded: false)
        guard (following ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        mode = Int(status.st_mode & 0o7777)
        byteCount = Int(status.st_size)
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .file
        case S_IFDIR: kind = .folder
        case S_IFLNK: kind = .link
        default: kind = .other
        }
    }
}
