internal import PushCrypto
internal import SealedPush
internal import _PushBase

/// A backup as a file: a head that anyone may read, an empty line, and what is sealed, as base64url in lines of 76.
///
///     sealedpush-backup: 1
///     seal: passphrase
///     salt: …
///     operations: 3
///     memory: 67108864
///
/// The seal is a fresh one, as of ``KeyringSeal``. The sealing covers the head, so no byte of the file can be changed.
struct BackupFile {
    let seal: KeyringSeal
    private let head: [UInt8]
    private let sealed: [UInt8]

    /// Nil for anything that ``text(of:seal:under:)`` does not write, as far as can be told without the secret.
    init?(parsing bytes: [UInt8]) {
        guard bytes.count <= Self.maximumByteCount, bytes.starts(with: Self.firstLine),
            let end = Self.headByteCount(bytes)
        else { return nil }
        head = Array(bytes[..<end])
        guard let text = TextFile(parsing: head), text.paragraphCount == 1, !text.hasMAC,
            let seal = KeyringSeal(in: text, besides: [Self.versionName]),
            let sealed = LineText.decode(bytes[(end + 1)...])
        else { return nil }
        self.seal = seal
        self.sealed = sealed
    }

    /// What was sealed; nil for another secret, and for a file that was changed.
    func open(under key: MasterKey) -> WipedBytes? {
        key.storage.open(sealed, additionalData: Self.additionalData(head))
    }

    /// The whole file.
    static func text(of contents: UnsafeRawBufferPointer, seal: KeyringSeal, under key: MasterKey) -> [UInt8] {
        var writer = TextFileWriter(capacity: 512)
        writer.field(versionName, version)
        seal.write(to: &writer)
        let head = writer.text(from: 0)
        let sealed = key.storage.seal(contents, additionalData: additionalData(head))
        return head + [UInt8(ascii: "\n")] + LineText.encode(sealed)
    }

    /// Up to the empty line, without it; nil where there is none near the start.
    private static func headByteCount(_ bytes: [UInt8]) -> Int? {
        let start = bytes.prefix(maximumHeadByteCount)
        return start.indices.dropFirst().first {
            start[$0] == UInt8(ascii: "\n") && start[$0 - 1] == UInt8(ascii: "\n")
        }
    }

    private static func additionalData(_ head: [UInt8]) -> [UInt8] {
        Array("sealedpush/v1 keyring backup".utf8) + [0] + head
    }

    private static let versionName = "sealedpush-backup"
    private static let version = "1"
    private static let firstLine = Array("\(versionName): \(version)\n".utf8)
    private static let maximumHeadByteCount = 512
    /// 16 MiB, many thousand keys.
    static let maximumByteCount = 16 << 20
}

/// Bytes as base64url in lines of 76 characters, each with its end: one text for each byte string.
private enum LineText {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let characters = Array(Base64URL.encode(bytes).utf8)
        var text: [UInt8] = []
        text.reserveCapacity(characters.count + characters.count / length + 1)
        for start in stride(from: 0, to: characters.count, by: length) {
            text += characters[start..<min(start + length, characters.count)]
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// Nil for lines of another length, and a last line without its end.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.last == UInt8(ascii: "\n") else { return nil }
        var characters: [UInt8] = []
        characters.reserveCapacity(text.count)
        var start = text.startIndex
        while start < text.endIndex {
            let end = min(start + length, text.endIndex - 1)
            guard text[end] == UInt8(ascii: "\n"), end > start else { return nil }
            // A line end that comes too early is no character, and is refused below.
            characters += text[start..<end]
            start = end + 1
        }
        return Base64URL.decode(characters)
    }

    private static let length = 76
}

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
