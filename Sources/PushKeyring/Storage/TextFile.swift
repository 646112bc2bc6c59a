internal import PushCrypto
internal import SealedPush
internal import _PushBase

/// A file of the keyring: paragraphs of `name: value` lines, and comments. Wiped when it goes, as it may hold secrets.
struct TextFile: ~Copyable {
    private let contents: WipedBytes
    private let fields: [[String: Range<Int>]]
    /// Where the line `mac: …` begins; the end where there is none.
    private let macOffset: Int

    /// More than any file of a keyring has; a larger one is damaged.
    static let maximumByteCount = 262_144

    /// Nil unless every line is `name: value` with a name of small letters and hyphens, once in its paragraph.
    init?(parsing bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumByteCount, bytes.last == UInt8(ascii: "\n") else { return nil }
        var fields: [[String: Range<Int>]] = [[:]]
        var macOffset: Int?
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            // Nothing may follow the MAC, which is over all before it.
            guard macOffset == nil else { return nil }
            guard !line.isEmpty else {
                if fields.last?.isEmpty == false { fields.append([:]) }
                continue
            }
            guard line.first != UInt8(ascii: "#") else { continue }
            guard let (name, value) = Self.field(line), fields[fields.count - 1][name] == nil else { return nil }
            fields[fields.count - 1][name] = value
            if name == Self.macName { macOffset = line.startIndex }
        }
        self.macOffset = macOffset ?? bytes.count
        self.fields = fields.filter { !$0.isEmpty }
        contents = WipedBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    private static func field(_ line: ArraySlice<UInt8>) -> (String, Range<Int>)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.endIndex - colon > 2,
            line[colon + 1] == UInt8(ascii: " "), colon > line.startIndex, colon - line.startIndex <= 32,
            line[..<colon].allSatisfy({ $0 == UInt8(ascii: "-") || $0.isSmallLetter })
        else { return nil }
        return (String(decoding: line[..<colon], as: UTF8.self), colon + 2..<line.endIndex)
    }

    /// Paragraphs, without one that holds the MAC alone.
    var paragraphCount: Int {
        fields.count - (fields.last.map { $0.count == 1 && $0[Self.macName] != nil } == true ? 1 : 0)
    }

    func names(in paragraph: Int) -> Set<String> { Set(fields[paragraph].keys) }

    /// A value that is no secret.
    func text(_ name: String, in paragraph: Int) -> String? {
        withValue(name, in: paragraph) { String(decoding: $0, as: UTF8.self) }
    }

    func withValue<Answer>(_ name: String, in paragraph: Int, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer? {
        guard fields.indices.contains(paragraph), let range = fields[paragraph][name] else { return nil }
        return contents.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Whether the last line is the MAC of all before it, for a file that lies at `path`.
    func isAuthentic(at path: String, under key: borrowing StorageKey) -> Bool {
        guard let range = fields.last?[Self.macName] else { return false }
        return contents.withBytes { bytes in
            guard let mac = Base64URL.decode(Array(bytes[range])) else { return false }
            return key.isValid(mac, of: Self.macInput(path, UnsafeRawBufferPointer(rebasing: bytes[..<macOffset])))
        }
    }

    var hasMAC: Bool { fields.last?[Self.macName] != nil }

    /// Whether a file, even a damaged one, has a MAC or a sealed secret.
    static func isOfSealedKeyring(_ bytes: [UInt8]) -> Bool {
        bytes.split(separator: UInt8(ascii: "\n")).contains { line in
            sealedBeginnings.contains { line.starts(with: $0) }
        }
    }

    private static let sealedBeginnings = ["\(macName): ", "secret: sealed.", "enrolment-secret: sealed."].map {
        Array($0.utf8)
    }

    static func macInput(_ path: String, _ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        Array("sealedpush/v1 keyring file".utf8) + [0] + Array(path.utf8) + [0] + Array(bytes)
    }

    static let macName = "mac"
}

/// Writes what ``TextFile`` reads.
struct TextFileWriter {
    private var bytes: [UInt8] = []

    /// - Parameter capacity: more bytes than will be written. Growing would leave a secret behind in memory.
    init(comment: String, capacity: Int) {
        bytes.reserveCapacity(capacity)
        bytes += Array("# \(comment)\n".utf8)
    }

    /// Without a comment.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func field(_ name: String, _ value: String?) {
        guard let value else { return }
        bytes += Array("\(name): \(value)\n".utf8)
    }

    mutating func secretField(_ name: String, _ value: UnsafeRawBufferPointer) {
        bytes += Array("\(name): ".utf8)
        bytes.append(contentsOf: value)
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func paragraph() { bytes.append(UInt8(ascii: "\n")) }

    /// What has been written since `start`.
    func text(from start: Int) -> [UInt8] { Array(bytes[start...]) }

    var count: Int { bytes.count }

    /// The file, ended by its MAC where there is a key for one; the caller wipes it.
    consuming func finish(at path: String, under key: MasterKey?) -> [UInt8] {
        guard let key else { return bytes }
        paragraph()
        let mac = key.storage.mac(bytes.withUnsafeBytes { TextFile.macInput(path, $0) })
        field(TextFile.macName, Base64URL.encode(mac))
        return bytes
    }
}
