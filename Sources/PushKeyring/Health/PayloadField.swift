internal import Foundation
internal import SealedPush
internal import _PushBase

/// The field of a payload, as text: from its JSON, or by itself.
enum PayloadField {
    case text(String)
    /// And what is wrong with it.
    case missing(String)

    /// - Parameter bytes: what a person has at hand: a payload's JSON, or the field's text with white space around it.
    init(of bytes: [UInt8]) {
        guard bytes.count <= Self.maximumByteCount else {
            self = .missing("it has more than \(Self.maximumByteCount) bytes: no push is that long")
            return
        }
        guard let text = String(strictUTF8: bytes) else {
            self = .missing("it is not UTF-8 text")
            return
        }
        let trimmed = text.unicodeScalars.drop(while: Self.isSpace)
        guard let first = trimmed.first else {
            self = .missing("it is empty")
            return
        }
        switch first {
        case "{": self = Self.inJSON(bytes)
        case "[", "\"": self = .missing("it is JSON, and no object")
        case "\u{feff}": self = .missing("it begins with a byte order mark, which JSON may not have")
        default:
            let end = trimmed.lastIndex { !Self.isSpace($0) }.map(trimmed.index(after:)) ?? trimmed.endIndex
            self = .text(String(trimmed[..<end]))
        }
    }

    private static func inJSON(_ bytes: [UInt8]) -> PayloadField {
        // Each value is read, not the field alone: the system that delivers a push refuses it whole.
        let depth = JSONReader.maximumPayloadDepth
        guard let members = JSONReader.object(bytes, maximumByteCount: maximumByteCount, maximumDepth: depth) else {
            return .missing("it is no JSON: cut, altered, with a name twice, or more than \(depth) levels deep")
        }
        switch members[fieldName] {
        case .string(let text): return .text(text)
        case .none: return .missing("it has no \"\(fieldName)\": nothing was sealed into it, or something took it out")
        default: return .missing("its \"\(fieldName)\" is no string")
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { [" ", "\t", "\r", "\n"].contains(scalar) }

    private static let fieldName = "custom-encrypted-message"
    /// Far more than a push has.
    static let maximumByteCount = 65_536
}
