import Foundation
import FuzzSupport

@testable import PushService

/// Templates: a text is filled exactly as ContentParts 17.2 requires, once, and never exceeds its limit. And the file of
/// the app's values, whatever it contains: each value is a text of at most 4,096 bytes.
///
/// The input's first byte selects a template and its limit, or the file.
func fuzzTemplate(_ input: inout Input) {
    let choice = input.byte()
    if choice & 1 == 0 {
        let limit = choice & 2 == 0 ? 8_192 : Int(choice >> 2) + 3
        checkFilling(String(decoding: input.bytes, as: UTF8.self), limit: limit)
    } else {
        checkValues(input.bytes)
    }
}

private func checkFilling(_ text: String, limit: Int) {
    var asked: [String] = []
    let filled = TextTemplate(text).filled(maximumByteCount: limit) { name in
        asked.append(name)
        return values[name]
    }
    demand(asked.allSatisfy(isName), "an invalid name: \(asked)")
    demand(filled.map { $0.utf8.count <= limit } ?? true, "a text of \(filled?.utf8.count ?? 0) bytes")
    let pieces = TemplateRule.pieces(of: Array(text.utf8))
    let expected = pieces.map { piece in piece.text ?? values[piece.name ?? ""].map { Array($0.utf8) } ?? piece.inPlace
    }
    let whole = expected.reduce([UInt8]()) { $0 + ($1 ?? []) }
    guard let filled else {
        demand(expected.contains { $0 == nil }, "a text that can be filled isn't")
        return
    }
    if whole.count > limit {
        demand(filled.hasSuffix("…") && whole.starts(with: filled.utf8.dropLast(3)), "it is cut wrong")
    } else {
        demand(!expected.contains { $0 == nil }, "a text that can't be filled is")
        demand(filled.utf8.elementsEqual(whole), "it is filled wrong")
    }
}

private func checkValues(_ bytes: [UInt8]) {
    folder.lay(["values/values.json": bytes])
    let found = SharedValues(in: folder.url).all()
    demand(found.values.allSatisfy { $0.utf8.count <= 4_096 }, "a value is too long")
    demand(found.isEmpty || bytes.count <= 65_536, "a file of \(bytes.count) bytes is read")
}

private func isName(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9._\-]{1,64}/) != nil }

private let values = [
    "a": "{{b}}", "b": "}}x{{", "name": "Nina", "long": String(repeating: "👩‍👩‍👧", count: 30), "empty": "",
]
private let folder = RawFolder(target: "sealed-push-fuzz-template")

/// A second implementation of ContentParts 17.2, from the back: at each `}}`, the text after the last `{{` before it.
enum TemplateRule {
    struct Piece {
        var text: [UInt8]?
        var name: String?
        var inPlace: [UInt8]?
    }

    static func pieces(of bytes: [UInt8]) -> [Piece] {
        var pieces: [Piece] = []
        /// The positions after the preceding placeholder, and after the last `}}` that was checked.
        var (kept, seen) = (0, 0)
        while let end = pair("}", in: bytes, from: seen) {
            let openings = (seen..<max(seen, end - 1)).filter { bytes[$0] == 0x7b && bytes[$0 + 1] == 0x7b }
            guard let start = openings.last else {
                seen = end + 1
                continue
            }
            if let placeholder = placeholder(bytes[(start + 2)..<end]) {
                pieces += [Piece(text: Array(bytes[kept..<start])), placeholder]
                kept = end + 2
            }
            seen = end + 2
        }
        return pieces + [Piece(text: Array(bytes[kept...]))]
    }

    private static func pair(_ bracket: Character, in bytes: [UInt8], from start: Int) -> Int? {
        guard let byte = bracket.asciiValue else { return nil }
        return (start..<max(start, bytes.count - 1)).first { bytes[$0] == byte && bytes[$0 + 1] == byte }
    }

    private static func placeholder(_ inner: ArraySlice<UInt8>) -> Piece? {
        let parts = inner.split(separator: UInt8(ascii: "|"), maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(decoding: parts[0], as: UTF8.self)
        guard name.wholeMatch(of: /[A-Za-z0-9._\-]{1,64}/) != nil else { return nil }
        return Piece(name: name, inPlace: parts.count > 1 ? Array(parts[1]) : nil)
    }
}
