internal import CommandSupport
internal import Foundation
internal import PushCore
internal import SealedPush

/// What the commands print.
enum Output {
    /// One line; an error where standard output can't be written, so that no script takes silence for success.
    static func line(_ text: String) throws { try write(Array((text + "\n").utf8), to: nil) }

    /// One JSON value, by name, on a line of its own.
    static func json(_ value: JSONValue) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try line(TerminalText.json(String(decoding: try encoder.encode(value), as: UTF8.self)))
    }

    /// Rows under headings, each column as wide as its widest text.
    static func table(_ headings: [String], _ rows: [[String]]) throws {
        let widths = headings.indices.map { column in ([headings] + rows).map { $0[column].count }.max() ?? 0 }
        for row in [headings] + rows {
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            try line(cells.joined(separator: "  ").trimmingCharacters(in: .whitespaces))
        }
    }

    /// Writes to a new file, or to standard output.
    static func write(_ bytes: [UInt8], to file: String?) throws {
        guard let file else {
            do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch {
                throw Failure.file("standard output can't be written")
            }
            return
        }
        do {
            try Data(bytes).write(to: URL(filePath: file), options: .withoutOverwriting)
        } catch CocoaError.fileWriteFileExists {
            throw Failure.file("\(file) exists already, and is not overwritten")
        } catch {
            throw Failure.file("\(file) can't be written")
        }
    }
}
