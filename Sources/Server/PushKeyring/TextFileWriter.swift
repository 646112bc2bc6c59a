/// Writes the format that ``TextFile`` reads.
struct TextFileWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: At least the number of bytes to write. Growing would leave a copy of a secret in memory.
    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func comment(_ text: String) { bytes += Array("# \(text)\n".utf8) }

    mutating func field(_ name: String, _ value: String?) {
        guard let value else { return }
        bytes += Array("\(name): \(value)\n".utf8)
    }

    mutating func fields(_ lines: [String: String]) {
        for (name, value) in lines.sorted(by: { $0.key < $1.key }) { field(name, value) }
    }

    mutating func secretField(_ name: String, _ value: UnsafeRawBufferPointer) {
        bytes += Array("\(name): ".utf8)
        bytes.append(contentsOf: value)
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func paragraph() { bytes.append(UInt8(ascii: "\n")) }
}
