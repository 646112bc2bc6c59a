internal import CommandSupport
internal import Foundation
internal import PushCore
internal import SealedPush

/// The commands' standard output.
enum Output {
    static func line(_ text: String) throws { try OutputFile.print(Array((text + "\n").utf8)) }

    /// Prints one JSON value on its own line, with sorted keys.
    static func json(_ value: JSONValue) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try line(TerminalText.json(String(decoding: try encoder.encode(value), as: UTF8.self)))
    }

    /// Prints rows under headings, with each column as wide as its widest text. Never cuts a text.
    static func table(_ headings: [String], _ rows: [[String]]) throws {
        for row in TerminalWidth.aligned([headings] + rows) { try line(row) }
    }
}

/// Payload files named on the command line.
enum Input {
    /// Returns the envelope from a payload, or from a file that contains only an envelope's text.
    static func envelope(
        _ bytes: [UInt8], from file: String
    ) throws -> (envelope: Envelope, payload: (members: [String: JSONValue], byteCount: Int)?) {
        let trimmed = bytes.trimmingSpace
        var text = String(decoding: trimmed, as: UTF8.self)
        var members: [String: JSONValue]?
        if trimmed.first == UInt8(ascii: "{") || bytes.hasByteOrderMark {
            do throws(JSONFault) {
                members = try JSONReader.members(bytes, maximumDepth: JSONReader.maximumPayloadDepth).dictionary
            } catch { throw Failure.input("malformed: \(file) is not one JSON object: \(error)") }
            guard let field = members?[Envelope.fieldName]?.string
            else { throw Failure.input("malformed: \(file) has no text under \"\(Envelope.fieldName)\"") }
            text = field
        }
        do { return (try Envelope(parsing: text), members.map { ($0, trimmed.count) }) } catch {
            throw Failure.input("malformed: \(error)")
        }
    }

    /// The maximum size of a payload file.
    static let maximumPayloadFileByteCount = 65_536
}

/// Progress messages on standard error after two seconds: on a terminal, one updating line; otherwise, an occasional line.
final class Progress: Sendable {
    private let start = ContinuousClock.now
    private let isTerminal = isatty(2) == 1
    /// The time at which the line was last written; nil if there is no line.
    private let last = Locked<ContinuousClock.Instant?>(nil)

    func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard now - start >= .seconds(2) else { return }
        let pause: Duration = isTerminal ? .milliseconds(500) : .seconds(10)
        let isDue = last.withLock { last in
            guard last.map({ now - $0 >= pause }) ?? true else { return false }
            last = now
            return true
        }
        if isDue { write(isTerminal ? "\r\u{1b}[K\(text())" : "\(text())\n") }
    }

    /// Removes the line.
    func end() {
        let isShown = last.withLock { last in
            defer { last = nil }
            return last != nil
        }
        if isShown && isTerminal { write("\r\u{1b}[K") }
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

extension Int {
    /// `12,345`
    var grouped: String {
        magnitude < 1_000 ? "\(self)" : "\((self / 1_000).grouped),\(String(magnitude % 1_000 + 1_000).dropFirst())"
    }
}

extension TerminalText {
    /// Whether a descriptor is a color terminal, and `NO_COLOR` is unset or empty (no-color.org).
    static func hasColor(_ descriptor: Int32) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        let knowsColors = !["", "dumb"].contains(environment["TERM"] ?? "")
        return isatty(descriptor) == 1 && knowsColors && (environment["NO_COLOR"] ?? "").isEmpty
    }

    static func printable(_ name: some CustomStringConvertible) -> String { printable(name.description) }
}

/// JSON values from optional values; nil becomes null.
extension JSONValue {
    static func text(_ value: (some CustomStringConvertible)?) -> JSONValue {
        value.map { .string($0.description) } ?? .null
    }

    static func count(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }

    /// Returns a time in seconds since 1970.
    static func seconds(_ moment: Timestamp?) -> JSONValue { moment.map { .integer($0.secondsSince1970) } ?? .null }
}
