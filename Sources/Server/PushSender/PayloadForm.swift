internal import PushCore
internal import SealedPush

/// The grammar of payloads that sealers write. Swift's check and PostgreSQL's expressions share one table, whose alerts are
/// exactly those of ``WireAlert``. It keeps a host that may only enqueue from sending clear text, or an alert that doesn't
/// run an extension. Source: Specification 2.2 and 2.12.
package enum PayloadForm {
    package indirect enum Piece: Sendable {
        case text(String)
        /// A quoted string with a visible scalar, which escapes only the characters that JSON requires.
        case visibleText
        /// The base64url of an envelope with a known suite.
        case envelope
        case all([Piece])
        case any([Piece])
        /// One or more, separated by commas.
        case list(Piece)

        static func member(_ name: String, _ value: Piece) -> Piece { .all([.text("\"\(name)\":"), value]) }
        static func optional(_ piece: Piece) -> Piece { .any([piece, .text("")]) }
    }

    private static func alert(_ part: WireAlert.Part) -> Piece {
        let arguments = Piece.all([
            .member(part.arguments, .all([.text("["), .list(.visibleText), .text("]")])), .text(","),
        ])
        return .any([
            .member(part.plain, .visibleText), .all([.optional(arguments), .member(part.key, .visibleText)]),
        ])
    }

    private static let alert = Piece.all([
        .text(#"{"aps":{"alert":"#),
        .any([
            .visibleText,
            .all([
                .text("{"), alert(.body), .optional(.all([.text(","), alert(.subtitle)])),
                .optional(.all([.text(","), alert(.title)])), .text("}"),
            ]),
        ]),
        .text(",\"mutable-content\":1},\(clearEnd)"),
    ])
    /// The end of the clear part, which appears nowhere else in it.
    package static let clearEnd = "\"\(Envelope.fieldName)\":\""
    /// The clear part of a push that the app opens instead of the extension. Source: ContentParts 21.3.
    package static let background = "{\"aps\":{\"content-available\":1},\(clearEnd)"
    package static let clear = Piece.any([alert, .text(background)])
    package static let sealed = Piece.all([.envelope, .text("\"}")])

    /// Whether these bytes have the form of a payload. Takes about a microsecond, and doesn't open anything.
    package static func matches(_ json: [UInt8]) -> Bool {
        json.count <= PayloadLimit.byteCount
            && json.withUnsafeBytes { json in end(of: .all([clear, sealed]), in: json, from: 0) == json.count }
    }

    /// Returns the end of a piece that begins at `start`, or nil if it doesn't match. The first alternative that matches
    /// counts; of the others, only the empty text could.
    private static func end(of piece: Piece, in json: UnsafeRawBufferPointer, from start: Int) -> Int? {
        switch piece {
        case .text(let text): return json[start...].starts(with: text.utf8) ? start + text.utf8.count : nil
        case .visibleText: return endOfVisibleText(in: json, from: start)
        case .envelope:
            let end = JSONCharacters.endOfPlain(json, from: start)
            guard let bytes = Base64URL.decode(json[start..<end]), (try? Envelope(parsing: bytes)) != nil else {
                return nil
            }
            return end
        case .all(let pieces):
            return pieces.reduce(Int?.some(start)) { place, piece in
                place.flatMap { end(of: piece, in: json, from: $0) }
            }
        case .any(let pieces): return pieces.lazy.compactMap { end(of: $0, in: json, from: start) }.first
        case .list(let piece):
            var place = end(of: piece, in: json, from: start)
            while let end = place, end < json.count, json[end] == UInt8(ascii: ",") {
                place = Self.end(of: piece, in: json, from: end + 1)
            }
            return place
        }
    }

    private static func endOfVisibleText(in json: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < json.count, json[start] == UInt8(ascii: "\"") else { return nil }
        var (place, isVisible) = (start + 1, false)
        while true {
            let end = JSONCharacters.endOfPlain(json, from: place)
            guard let plain = String(strictUTF8: json[place..<end]) else { return nil }
            isVisible = isVisible || VisibleText.isVisible(plain)
            guard end < json.count, json[end] == UInt8(ascii: "\\") else {
                let isEnded = end < json.count && json[end] == UInt8(ascii: "\"")
                return isEnded && isVisible ? end + 1 : nil
            }
            guard let escape = escapes.first(where: { json[end...].starts(with: $0.bytes) }) else { return nil }
            isVisible = isVisible || escape.isVisible
            place = end + escape.bytes.count
        }
    }

    /// The escapes that a JSON writer uses for characters that can't appear in a string unescaped.
    package static let escapes: [(bytes: [UInt8], isVisible: Bool)] = (UInt8(0)..<0x80).compactMap { byte in
        var writer = JSONWriter()
        writer.string(String(UnicodeScalar(byte)))
        guard writer.bytes.count > 3 else { return nil }
        return (Array(writer.bytes.dropFirst().dropLast()), VisibleText.isVisible(UnicodeScalar(byte)))
    }

    /// Whether a payload of this form is a background push.
    package static func isBackground(_ json: [UInt8]) -> Bool { json.starts(with: background.utf8) }
}
