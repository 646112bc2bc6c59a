internal import PushCrypto
internal import SealedPush
internal import _PushBase

/// What a backup seals: the files of a keyring, as they would stand in one that is not sealed.
///
/// 0x01, then for each file: the length of its path (2 bytes, big endian), the path, its length (4 bytes), its bytes.
enum BackupContents {
    struct File {
        let path: String
        var bytes: [UInt8]
    }

    static func encode(_ files: [File]) -> WipedBytes {
        let count = files.reduce(1) { $0 + 6 + $1.path.utf8.count + $1.bytes.count }
        return WipedBytes(count: count) { output in
            output[0] = version
            var offset = 1
            func write(_ bytes: some Collection<UInt8>) {
                UnsafeMutableRawBufferPointer(rebasing: output[offset..<offset + bytes.count]).copyBytes(from: bytes)
                offset += bytes.count
            }
            for file in files {
                write(bigEndian(file.path.utf8.count, byteCount: 2))
                write(file.path.utf8)
                write(bigEndian(file.bytes.count, byteCount: 4))
                write(file.bytes)
            }
        }
    }

    /// Lends the files one by one; their bytes are wiped afterwards.
    ///
    /// - Throws: `backup` for anything that ``encode(_:)`` does not give.
    static func forEachFile(
        of contents: UnsafeRawBufferPointer, _ body: (String, [UInt8]) throws(KeyringError) -> Void
    ) throws(KeyringError) {
        var rest = contents[...]
        func take(_ count: Int) throws(KeyringError) -> Slice<UnsafeRawBufferPointer> {
            guard count <= rest.count else { throw .backup }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        func number(_ byteCount: Int) throws(KeyringError) -> Int {
            try take(byteCount).reduce(0) { $0 << 8 | Int($1) }
        }
        guard try number(1) == version else { throw .backup }
        while !rest.isEmpty {
            let path = try take(number(2))
            var bytes = Array(try take(number(4)))
            defer { wipe(&bytes) }
            guard let path = String(strictUTF8: path) else { throw .backup }
            try body(path, bytes)
        }
    }

    private static func bigEndian(_ number: Int, byteCount: Int) -> [UInt8] {
        (1...byteCount).map { UInt8(truncatingIfNeeded: number >> (8 * (byteCount - $0))) }
    }

    private static let version: UInt8 = 1
}
