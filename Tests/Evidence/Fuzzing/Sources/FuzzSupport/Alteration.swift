/// Alterations of bytes that an input specifies.
public enum Alteration {
    /// Returns the bytes with one alteration, or with none.
    public static func ofBytes(_ bytes: [UInt8], _ input: inout Input) -> [UInt8] {
        var bytes = bytes
        let act = input.byte()
        let place = input.number(below: bytes.count + 1)
        let count = min(Int(input.byte()) + 1, bytes.count - place)
        switch act % 6 {
        case 0 where place < bytes.count: bytes[place] ^= 1 << (act >> 3 & 7)
        case 1: bytes.removeSubrange(place..<place + count)
        case 2: bytes.insert(contentsOf: input.text().utf8, at: place)
        case 3: bytes.removeSubrange(place...)
        case 4: bytes.insert(contentsOf: bytes[place..<place + count], at: place)
        case 5 where place < bytes.count: bytes[place] = input.byte()
        default: break
        }
        return bytes
    }

    /// Returns the lines with one alteration, which may add lines of `others`.
    public static func ofLines(_ bytes: [UInt8], _ others: [UInt8], _ input: inout Input) -> [UInt8] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        let act = input.byte()
        let line = Int(input.byte()) % lines.count
        let count = min(Int(act >> 4) + 1, lines.count - line)
        switch act % 6 {
        case 0: lines[line] = Array(input.text().utf8)
        case 1: lines.removeSubrange(line..<line + count)
        case 2: lines.insert(contentsOf: lines[line..<line + count], at: Int(input.byte()) % (lines.count + 1))
        case 3: lines.insert(Array(input.text().utf8), at: line)
        case 4:
            let name = lines[line].prefix { $0 != UInt8(ascii: ":") }
            lines[line] = name + Array(": ".utf8) + Array(input.text().utf8)
        default:
            let found = others.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
            let first = Int(input.byte()) % found.count
            lines.insert(contentsOf: found[first..<min(first + count, found.count)], at: line)
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
