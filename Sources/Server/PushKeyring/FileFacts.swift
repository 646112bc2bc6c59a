import Foundation

/// A file's metadata, read without opening it.
struct FileFacts {
    let owner: uid_t
    let mode: Int
    let byteCount: Int
    let isFolder: Bool

    init?(of file: URL, following: Bool = false) {
        var status = stat()
        let path = file.path(percentEncoded: false)
        guard (following ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        owner = status.st_uid
        mode = Int(status.st_mode & 0o7777)
        byteCount = Int(status.st_size)
        isFolder = status.st_mode & S_IFMT == S_IFDIR
    }
}
