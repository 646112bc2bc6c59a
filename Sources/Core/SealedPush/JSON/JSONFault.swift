internal import PushCore

/// The place and reason of a JSON error. Contains no part of the text.
public struct JSONFault: Error, Hashable, Sendable {
    /// The line, starting at 1.
    public let line: Int
    /// The byte within the line, starting at 1.
    public let column: Int
    let cause: Cause

    /// The error at that place, as part of a sentence.
    enum Cause: String {
        case noObject = "expected an object in braces"
        case cut = "the object is incomplete"
        case textBehind = "unexpected text after the object"
        case unexpected = "unexpected character"
        case noName = "expected a name in double quotes"
        case commaTooMany = "there is an extra comma"
        case nameTwice = "this name is already in the object"
        case longName = "a name has at most 256 bytes"
        case tooDeep = "objects and arrays are nested too deep"
        case controlCharacter = "a line end or control character in a string must be escaped, such as \\n"
        case escape = "this is not a valid JSON escape"
        case halfPair = "this is an unpaired surrogate"
        case notUTF8 = "this string is not valid UTF-8"
        case largeNumber = "this number is too large for a Double"
        case largeInteger = "this integer doesn't fit in 64 bits; write it as a string, or its value will change"
        case byteOrderMark = "the text begins with a byte order mark; save it without one"
        case otherEncoding = "the text is UTF-16; save it as UTF-8"

        /// Determines the cause from the first bytes, if they reveal one.
        init?(beginning bytes: UnsafeBufferPointer<UInt8>) {
            if bytes.hasByteOrderMark {
                self = .byteOrderMark
            } else if bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
                self = .otherEncoding
            } else {
                return nil
            }
        }
    }

    init(_ cause: Cause, at place: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        let before = bytes[..<place]
        line = before.count { $0 == 0x0a } + 1
        column = place - (before.lastIndex(of: 0x0a) ?? -1)
        self.cause = cause
    }
}

extension JSONFault: CustomStringConvertible {
    /// For example, `line 2, column 7: there is an extra comma`.
    public var description: String { "line \(line), \(placeInLine)" }

    /// The description without the line, for callers that know it.
    package var placeInLine: String { "column \(column): \(cause.rawValue)" }
}
