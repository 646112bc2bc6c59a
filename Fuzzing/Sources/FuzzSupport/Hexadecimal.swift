public enum Hexadecimal {
    /// The bytes of text that is known to be hexadecimal.
    public static func bytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { fatalError("not hexadecimal: \(text)") }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
