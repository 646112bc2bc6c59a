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
