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
