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

    /// Refuses a file that is there, before it is made for nothing.
    static func requireNew(_ file: String) throws {
        guard !FileManager.default.fileExists(atPath: file)
        else { throw Failure.file("\(file) exists already, and is not overwritten") }
    }

    /// Writes to a new file, or to standard output.
    static func write(_ bytes: [UInt8], to file: String?) throws {
        guard let file else {
            do { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) } catch {
                throw Failure.file("standard output can't be written")
            }
            return
        }
        try requireNew(file)
        do { try Data(bytes).write(to: URL(filePath: file), options: .withoutOverwriting) } catch {
            throw Failure.file("\(file) can't be written")
        }
    }
}

/// Files that a person names; `-` is standard input.
enum Input {
    /// At most `limit` bytes; more is an error.
    static func read(_ file: String, limit: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(
                URL(filePath: file == "-" ? "/dev/stdin" : file), limit: limit + 1, anyKind: true)
        } catch { throw Failure.file("\(file): \(error.message)") }
        guard bytes.count <= limit else { throw Failure.input("\(file) has more than \(limit) bytes") }
        return bytes
    }

    /// The envelope in a payload, or alone, as its text.
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

    /// No payload file is read further than this.
    static let maximumPayloadFileByteCount = 65_536
}

/// What is being done, on standard error: from two seconds on, one line that changes at a terminal, else a line now and then.
final class Progress: Sendable {
    private let start = ContinuousClock.now
    private let isTerminal = isatty(2) == 1
    /// When the line was last written; nil while there is none.
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

    /// Takes the line away.
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
    static func printable(_ name: some CustomStringConvertible) -> String { printable(name.description) }
}

/// Null for what is not there.
extension JSONValue {
    static func text(_ value: (some CustomStringConvertible)?) -> JSONValue {
        value.map { .string($0.description) } ?? .null
    }

    static func count(_ value: Int?) -> JSONValue { value.map { .integer(Int64($0)) } ?? .null }

    /// In seconds since 1970.
    static func seconds(_ moment: Timestamp?) -> JSONValue { moment.map { .integer($0.secondsSince1970) } ?? .null }
}
