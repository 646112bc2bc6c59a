import Foundation
import PushCore
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("A table", .blocking) struct TableTests {
    /// Names of all kinds: combining marks, joined emoji, wide letters, right-to-left text, half marks of one name.
    private static let names = [
        "Zoë 😀", "e\u{301}e\u{301}e\u{301}XYZ", "नमस्ते", "漢字かな交じり文", "한국어", "שלום עולם", "مرحبا", "👩‍👩‍👧‍👦 Familie",
        "z\u{335}\u{336}\u{337}algo", "ไทยไทย", "1️⃣2️⃣", "🇩🇪🇫🇷", "ｆｕｌｌ", "a", "名\u{3000}前",
    ]

    @Test("shows every name whole, whichever is the widest") func names() throws {
        let folder = try TemporaryFolder()
        let program = Program("sealedpush", in: folder.url)
        let key = DevicePrivateKey().recipient.description
        let list = Self.names.enumerated().map { index, name in
            let value = String(decoding: JSONValue.string(name).bytes, as: UTF8.self)
            return "{\"device\":\"d\(index)\",\"user\":\(value),\"token\":\"ab\(10 + index)\",\"key\":\"\(key)\"}"
        }
        let made = try program.run(
            ["device", "enroll", "--list", "-", "--unverified", "--topic", "app"], input: list.joined(separator: "\n"))
        #expect(made.status == 0, "\(made.errors)")
        for name in Self.names + [""] {
            let shown = try program.run(["device", "list"] + (name.isEmpty ? [] : ["--user", name]))
            let lines = shown.output.split(separator: "\n").dropFirst()
            #expect(lines.count == (name.isEmpty ? Self.names.count : 1), "\(shown)")
            for line in lines {
                let number = try #require(line.firstMatch(of: /^d(\d+)\s/).flatMap { Int($0.1) })
                // Byte for byte, since canonically equivalent texts are equal as strings.
                #expect(line.utf8.firstRange(of: TerminalText.printable(Self.names[number]).utf8) != nil, "\(line)")
            }
        }
    }

    @Test("has columns that begin at the same place on each line") func columns() {
        var random = SeededGenerator()
        for _ in 0..<200 {
            let rows = (0..<4).map { _ in
                (0..<3).map { _ in
                    TerminalText.printable(
                        RandomText.make(pieceCount: Int.random(in: 0...5, using: &random), using: &random))
                }
            }
            for (row, line) in zip(rows, TerminalWidth.aligned(rows)) {
                var rest = line[...]
                for (column, cell) in row.enumerated() where row[column...].contains(where: { !$0.isEmpty }) {
                    #expect(rest.utf8.starts(with: cell.utf8), "\(row)")
                    guard row[(column + 1)...].contains(where: { !$0.isEmpty }) else { break }
                    let width = rows.map { TerminalWidth.columns(of: $0[column]) }.max() ?? 0
                    let padding = width - TerminalWidth.columns(of: cell) + 2
                    rest = Substring(String(decoding: rest.utf8.dropFirst(cell.utf8.count), as: UTF8.self))
                    #expect(rest.utf8.prefix(padding).allSatisfy { $0 == UInt8(ascii: " ") }, "\(row)")
                    rest = Substring(String(decoding: rest.utf8.dropFirst(padding), as: UTF8.self))
                }
            }
        }
    }

    @Test("counts the cells of letters as Unicode's tables do, in an independent implementation") func widths() throws {
        let script = """
            import sys, unicodedata
            for code in range(0x20, 0x30000):
                letter = chr(code)
                if unicodedata.category(letter) in ('Lo', 'Ll', 'Lu', 'Nd', 'Mn', 'Me', 'Po', 'Sm', 'Sc'):
                    wide = unicodedata.east_asian_width(letter) in 'WF'
                    print(code, 0 if unicodedata.category(letter) in ('Mn', 'Me') else 1 + wide)
            """
        let table = try Program(at: "/usr/bin/python3").run("-c", script)
        var count = 0
        for line in table.output.split(separator: "\n") {
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            let scalar = try #require(numbers.first.flatMap(Unicode.Scalar.init))
            // Korean letters that join the one before, and fillers, are drawn in no cell of their own.
            let isDrawn = !scalar.properties.isDefaultIgnorableCodePoint && !(0x1160...0x11ff).contains(scalar.value)
            // Python's tables are of another version of Unicode.
            let isMark = [.nonspacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
            guard isDrawn, isMark == (numbers[1] == 0), !scalar.properties.isEmojiPresentation else { continue }
            count += 1
            #expect(TerminalWidth.columns(of: String(scalar)) == Int(numbers[1]), "\(line)")
        }
        #expect(count > 90_000)
        for (text, width) in [
            ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("1️⃣", 2), ("नमस्ते", 4), ("e\u{301}", 1), ("한", 2), ("\u{1112}\u{1161}\u{11ab}", 2),
        ] { #expect(TerminalWidth.columns(of: text) == width, "\(text)") }
    }
}
