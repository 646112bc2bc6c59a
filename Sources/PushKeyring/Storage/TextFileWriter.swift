internal import PushCrypto
internal import SealedPush

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
