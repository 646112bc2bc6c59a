import Foundation

/// base64url as in Specification 2.5, based on Foundation's base64, to compare with the project's own.
public enum Base64URLRule {
    /// Returns nil unless the text is the only encoding of some bytes.
    public static func decode(_ text: String) -> [UInt8]? {
        guard let bytes = decodeLoosely(text) else { return nil }
        return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
    }

    /// A lenient version: it skips any other character, and unused bits may have any value.
    public static func decodeLoosely(_ text: String) -> [UInt8]? {
        var base64 = text.utf8.compactMap { digits[$0] }
        base64 += repeatElement(UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        return Data(base64Encoded: Data(base64)).map(Array.init)
    }

    public static func encode(_ bytes: [UInt8]) -> String {
        let base64 = Data(bytes).base64EncodedString().utf8.filter { $0 != UInt8(ascii: "=") }
        return String(decoding: base64.map { back[$0] ?? $0 }, as: UTF8.self)
    }

    /// base64's character for each of base64url's.
    private static let digits: [UInt8: UInt8] = {
        var digits = Dictionary(uniqueKeysWithValues: "+/".utf8.map { ($0, $0) })
        for range in ["a"..."z", "A"..."Z", "0"..."9"] as [ClosedRange<UnicodeScalar>] {
            for digit in UInt8(ascii: range.lowerBound)...UInt8(ascii: range.upperBound) { digits[digit] = digit }
        }
        for (digit, base64) in zip("-_".utf8, "+/".utf8) { digits[digit] = base64 }
        return digits
    }()
    private static let back = Dictionary(uniqueKeysWithValues: zip("+/".utf8, "-_".utf8))
}
