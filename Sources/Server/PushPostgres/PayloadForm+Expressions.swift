#if Postgres
internal import PushCore
internal import PushSender
internal import SealedPush

/// The grammar of payloads as PostgreSQL regular expressions, for UTF-8 that is read as text.
extension PayloadForm {
    /// The clear part, whose texts aren't necessarily visible.
    static let clearExpression = "^\(expression(of: clear))$"
    /// A text without anything visible, anywhere in a clear part. Within the other expression, it would take three times as
    /// long. A quotation mark inside a text follows a backslash, so only one that begins a text follows these characters.
    static let blankExpression = #"[:,[]"(?:[\#(invisible)]|\#(escapes { !$0 }))*""#
    static let sealedExpression = "^\(expression(of: sealed))$"

    private static func expression(of piece: Piece) -> String {
        switch piece {
        case .text(let text): return literal(text)
        case .visibleText: return #""(?:[^"\\\u0001-\u001f]|\#(escapes { _ in true }))*""#
        case .envelope:
            // Whole groups of four, and a last one whose unused bits are zero. Lengths are checked separately.
            let letter = "[A-Za-z0-9_-]"
            let (two, three) = ("\(letter)[AQgw]", "\(letter){2}[AEIMQUYcgkosw048]")
            return
                "(?:\(shortest.map(\.start).joined(separator: "|")))\(letter){2}(?:\(letter){4})*(?:\(two)|\(three))?"
        case .all(let pieces): return pieces.map(expression(of:)).joined()
        case .any(let pieces): return "(?:\(pieces.map(expression(of:)).joined(separator: "|")))"
        case .list(let piece):
            let one = expression(of: piece)
            return "\(one)(?:,\(one))*"
        }
    }

    /// For each suite, the first two letters of its envelopes as an expression, and the number of letters of its shortest one.
    static var shortest: [(start: String, letterCount: Int)] {
        Envelope.Suite.allCases.map { suite in
            // The first byte identifies a suite. In base64url, it takes one letter and two bits of the next.
            let texts = (UInt8(0)..<16).map { Base64URL.encode([suite.rawValue, $0 << 4]) }
            let seconds = texts.map { String($0.dropFirst().prefix(1)) }.joined()
            // A hyphen between two characters would make a range.
            let last = seconds.contains("-") ? "-" : ""
            return (
                "\(texts[0].prefix(1))[\(seconds.replacing("-", with: ""))\(last)]",
                Base64URL.textByteCount(of: suite.overheadByteCount + 1)
            )
        }
    }

    private static func escapes(where isIncluded: (_ isVisible: Bool) -> Bool) -> String {
        escapes.filter { isIncluded($0.isVisible) }.map { literal(String(decoding: $0.bytes, as: UTF8.self)) }
            .joined(separator: "|")
    }

    /// The invisible scalars that may be unescaped, as they're written between brackets.
    static var invisible: String {
        VisibleText.invisible.map { range in
            [max(range.lowerBound, 0x20), range.upperBound].map { scalar in
                let digits = String(scalar, radix: 16)
                return "\\U\(String(repeating: "0", count: 8 - digits.count))\(digits)"
            }.joined(separator: "-")
        }.joined()
    }

    private static func literal(_ text: String) -> String { text.replacing(#/[{}\[\]\\]/#) { "\\\($0.output)" } }
}
#endif
