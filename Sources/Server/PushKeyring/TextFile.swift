internal import Foundation
internal import PushCore
package import SealedPush

/// Paragraphs of `name: value` lines, and comments. They're wiped on destruction, because they may contain secrets.
struct TextFile: ~Copyable {
    private let contents: WipedBytes
    private let paragraphs: [[String: Range<Int>]]
    private let lastLine: Int

    /// 16 MiB: tens of thousands of keys.
    static let maximumByteCount = 16 << 20

    /// Returns nil unless every line is `name: value` in UTF-8, and each name is lowercase letters and hyphens, unique in its
    /// paragraph.
    init?(parsing bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumByteCount, bytes.last == UInt8(ascii: "\n") else { return nil }
        var paragraphs: [[String: Range<Int>]] = [[:]]
        var lastLine = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            lastLine = line.startIndex
            guard !line.isEmpty else {
                if paragraphs.last?.isEmpty == false { paragraphs.append([:]) }
                continue
            }
            guard line.first != UInt8(ascii: "#") else { continue }
            guard let (name, value) = Self.field(line), paragraphs[paragraphs.count - 1][name] == nil else {
                return nil
            }
            paragraphs[paragraphs.count - 1][name] = value
        }
        self.paragraphs = paragraphs.filter { !$0.isEmpty }
        self.lastLine = lastLine
        contents = WipedBytes(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    private static func field(_ line: ArraySlice<UInt8>) -> (String, Range<Int>)? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.endIndex - colon > 2,
            line[colon + 1] == UInt8(ascii: " "), colon > line.startIndex, colon - line.startIndex <= 32,
            line[..<colon].allSatisfy({ $0 == UInt8(ascii: "-") || $0.isSmallLetter }),
            // A secret is ASCII, so this doesn't copy it.
            line.allSatisfy({ $0 < 0x80 }) || String(strictUTF8: line) != nil
        else { return nil }
        return (String(decoding: line[..<colon], as: UTF8.self), colon + 2..<line.endIndex)
    }

    var count: Int { paragraphs.count }

    func names(in paragraph: Int) -> Set<String> { Set(paragraphs[paragraph].keys) }

    /// Returns a paragraph's lines with other names, which a later version wrote and this one keeps.
    func lines(except names: Set<String>, in paragraph: Int) -> [String: String] {
        paragraphs[paragraph].keys.filter { !names.contains($0) }.reduce(into: [:]) { $0[$1] = text($1, in: paragraph) }
    }

    func has(_ name: String, in paragraph: Int) -> Bool { paragraphs[paragraph][name] != nil }

    /// Returns a value that isn't a secret.
    func text(_ name: String, in paragraph: Int) -> String? {
        withValue(name, in: paragraph) { String(decoding: $0, as: UTF8.self) }
    }

    func bytes(_ name: String, in paragraph: Int) -> [UInt8]? {
        withValue(name, in: paragraph) { Base64URL.decode(Array($0)) } ?? nil
    }

    func moment(_ name: String, in paragraph: Int) -> Timestamp? {
        text(name, in: paragraph).flatMap(Timestamp.init(iso8601:))
    }

    func withValue<Answer>(_ name: String, in paragraph: Int, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer? {
        guard paragraphs.indices.contains(paragraph), let range = paragraphs[paragraph][name] else { return nil }
        return contents.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// Passes `body` the last line's value, and all bytes before that line. Returns nil unless that line has this name.
    func withLastLine<Answer>(
        _ name: String, _ body: (_ value: [UInt8]?, _ before: UnsafeRawBufferPointer) -> Answer
    ) -> Answer? {
        guard let range = paragraphs.last?[name], range.lowerBound == lastLine + name.utf8.count + 2 else { return nil }
        let value = bytes(name, in: paragraphs.count - 1)
        return contents.withBytes { body(value, UnsafeRawBufferPointer(rebasing: $0[..<lastLine])) }
    }
}

extension Timestamp {
    /// The time in the form `2026-01-31T12:00:00Z`.
    package var iso8601: String { Date(timeIntervalSince1970: TimeInterval(secondsSince1970)).formatted(.iso8601) }

    /// Returns nil for any text that isn't in ``iso8601`` format.
    package init?(iso8601 text: String) {
        guard text.utf8.count == 20, let date = try? Date(text, strategy: .iso8601),
            let moment = Timestamp(secondsSince1970: Int64(date.timeIntervalSince1970)), moment.iso8601 == text
        else { return nil }
        self = moment
    }
}
