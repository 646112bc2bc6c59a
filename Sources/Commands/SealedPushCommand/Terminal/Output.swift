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

/// Files that a person names; `-` is standard input.
enum Input {
    /// At most `limit` bytes; more is an error.
    static func read(_ file: String, limit: Int) throws -> [UInt8] {
        let bytes: [UInt8]
        do throws(DurableFiles.Failure) {
            bytes = try DurableFiles.read(url(file), limit: limit + 1, anyKind: true)
        } catch { throw Failure.file("\(file): \(error.message)") }
        guard bytes.count <= limit else { throw Failure.input("\(file) has more than \(limit) bytes") }
        return bytes
    }

    /// Whether others may read a file; false for what is no file, and where it can't be opened.
    static func isExposed(_ file: String) -> Bool {
        do throws(DurableFiles.Failure) {
            _ = try DurableFiles.read(url(file), limit: 0, isSecret: true)
            return false
        } catch { return error.code == EPERM }
    }

    private static func url(_ file: String) -> URL { URL(filePath: file == "-" ? "/dev/stdin" : file) }

    /// The envelope's text in a payload, or the text itself where that is all there is.
    static func envelopeText(_ bytes: [UInt8], from file: String) throws -> (text: String, payloadByteCount: Int?) {
        let trimmed = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: jsonWhiteSpace)
        guard trimmed.hasPrefix("{") else { return (trimmed, nil) }
        let members = JSONReader.object(
            bytes, maximumByteCount: maximumPayloadFileByteCount, maximumDepth: JSONReader.maximumPayloadDepth)
        guard let members else {
            throw Failure.input("malformed: \(file) is not whole, no JSON in UTF-8, or nested too deep")
        }
        guard let text = members[Envelope.fieldName]?.string else {
            throw Failure.input("malformed: \(file) has no text under \"\(Envelope.fieldName)\"")
        }
        return (text, trimmed.utf8.count)
    }

    private static let jsonWhiteSpace = CharacterSet(charactersIn: " \t\r\n")
    /// No payload file is read further than this.
    static let maximumPayloadFileByteCount = 65_536
}

/// What is being done, on standard error: from two seconds on, one line that changes at a terminal, else a line now and then.
struct Progress {
    private let start = ContinuousClock.now
    private let isTerminal = isatty(2) == 1
    private var last = ContinuousClock.now
    private var isShown = false

    mutating func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard now - start >= .seconds(2), now - last >= (isTerminal ? .milliseconds(500) : .seconds(10)) || !isShown
        else { return }
        last = now
        isShown = true
        write(isTerminal ? "\r\u{1b}[K\(text())" : "\(text())\n")
    }

    /// Takes the line away.
    mutating func end() {
        if isShown && isTerminal { write("\r\u{1b}[K") }
        isShown = false
    }

    /// `12,345`
    static func number(_ count: Int) -> String {
        let digits = String(count)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

/// Progress that a callback shows.
final class SharedProgress: Sendable {
    private let progress = Locked(Progress())

    func show(_ text: String) { progress.withLock { $0.show(text) } }

    func end() { progress.withLock { $0.end() } }
}
