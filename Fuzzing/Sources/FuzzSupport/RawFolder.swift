import Glibc

/// A folder in memory (on `/dev/shm`) that is laid anew for each input and is gone with the process.
public struct RawFolder: Sendable {
    public let path: String

    /// - Parameter name: of the target; folders that processes of the target have left behind are removed.
    public init(target name: String) {
        let prefix = "\(name)."
        for other in Self.names(in: Self.root) where other.hasPrefix(prefix) {
            guard let process = pid_t(other.dropFirst(prefix.count)), kill(process, 0) != 0 else { continue }
            Self.remove(Self.root + "/" + other)
        }
        path = Self.root + "/" + prefix + "\(getpid())"
        mkdir(path, 0o700)
        Self.toRemove = path
        atexit { RawFolder.toRemove.map(RawFolder.remove) }
    }

    /// Makes the folder's files these and no others: a path below the folder, and the bytes.
    public func lay(_ files: [String: [UInt8]]) {
        for name in Self.names(in: path) { Self.remove(path + "/" + name) }
        for (file, bytes) in files {
            let parts = file.split(separator: "/")
            for count in 1..<max(1, parts.count) { mkdir(path + "/" + parts[..<count].joined(separator: "/"), 0o700) }
            let descriptor = open(path + "/" + file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            let count = descriptor < 0 ? -1 : Glibc.write(descriptor, bytes, bytes.count)
            demand(count == bytes.count, "\(file) is not written")
            close(descriptor)
        }
    }

    /// Every file, and every empty folder as its path and a slash.
    public func files() -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        Self.collect(path, "", &files)
        return files
    }

    private static func collect(_ root: String, _ below: String, _ files: inout [String: [UInt8]]) {
        for name in names(in: root + "/" + below) {
            let file = below + name
            if isFolder(root + "/" + file) {
                let count = files.count
                collect(root, file + "/", &files)
                if files.count == count { files[file + "/"] = [] }
            } else {
                files[file] = read(root + "/" + file)
            }
        }
    }

    private static func read(_ file: String) -> [UInt8] {
        let descriptor = open(file, O_RDONLY | O_NONBLOCK)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }

    private static func remove(_ path: String) {
        if isFolder(path) {
            for name in names(in: path) { remove(path + "/" + name) }
            rmdir(path)
        } else {
            unlink(path)
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static let root = "/dev/shm"
    // Set once, before the process ends.
    nonisolated(unsafe) private static var toRemove: String?
}
