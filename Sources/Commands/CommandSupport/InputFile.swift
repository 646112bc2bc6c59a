package import Foundation
internal import PushCore

/// Files named on the command line; `-` is standard input, which only one option can read.
package enum InputFile {
    /// Returns the place to read from.
    package static func place(_ file: String) throws(CommandFailure) -> URL {
        guard file == "-" else { return URL(filePath: file) }
        guard
            isTaken.withLock({ isTaken in
                defer { isTaken = true }
                return !isTaken
            })
        else { throw .usage("standard input (-) can be read only once; use a file instead") }
        return URL(filePath: "/dev/stdin")
    }

    /// Returns the file's contents, or throws if there are more than `limit` bytes.
    ///
    /// - Parameter isSetting: whether the file configures a program; see ``canWait(_:)``.
    package static func read(_ file: String, limit: Int, isSetting: Bool = false) throws(CommandFailure) -> [UInt8] {
        let place = try place(file)
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(place, limit: limit + 1, anyKind: !isSetting || canWait(place))
        } catch { throw .file("\(file): \(cause(error))") }
        guard bytes.count <= limit else { throw .input("\(file) is larger than \(limit) bytes") }
        return bytes
    }

    /// Whether a secret or a setting may be read from a pipe or device, which may block: only if this process was started with
    /// it, as with `-` or a shell's `<(…)`. A service would otherwise wait forever for the writer of a pipe in a folder.
    static func canWait(_ place: URL) -> Bool {
        let path = place.path(percentEncoded: false)
        return path == "/dev/stdin" || ["/dev/fd/", "/proc/self/fd/"].contains(where: path.hasPrefix)
    }

    /// Why a file can't be read.
    static func cause(_ error: DurableFiles.Failure) -> String {
        error.code == EINVAL ? "this is not a regular file" : error.message
    }

    /// Whether there is a file or folder. Throws if that can't be told, as in a folder of another user, since its owner needs
    /// other advice than the owner of a file that isn't there.
    package static func exists(_ path: String) throws(CommandFailure) -> Bool {
        var facts = stat()
        guard stat(path, &facts) != 0 else { return true }
        let code = errno
        guard code == ENOENT || code == ENOTDIR else { throw .file("\(path): \(String(cString: strerror(code)))") }
        return false
    }

    private static let isTaken = Locked(false)
}
