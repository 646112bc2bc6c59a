internal import PushCrypto
internal import SealedPush

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
