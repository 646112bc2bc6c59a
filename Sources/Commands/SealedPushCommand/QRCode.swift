internal import Clibqrencode
internal import Foundation
internal import PushKeyring

/// A QR code for a terminal: half blocks, two rows of modules a line, with a quiet zone of four modules around.
///
/// Error correction M. Text of digits, capitals and ` $%*+-./:` makes a small code: a key in capitals is one of 33 by
/// 33 modules, 41 columns and 21 lines with its quiet zone. Source: ISO/IEC 18004; libqrencode does the encoding.
struct QRCode {
    private let size: Int
    /// Row by row, the quiet zone left out.
    private let isDark: [Bool]

    /// Nothing where the text is empty, holds a zero byte, or is too long for a code (over about 2,300 bytes).
    init?(_ text: String) {
        guard !text.utf8.contains(0), let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else {
            return nil
        }
        defer { QRcode_free(code) }
        size = Int(code.pointee.width)
        // The lowest bit of a module's byte is its color; the others are the library's own.
        isDark = UnsafeBufferPointer(start: code.pointee.data, count: size * size).map { $0 & 1 == 1 }
    }

    /// A key's text in capitals, which ``AnyPublicKey/init(parsing:)`` reads too.
    init?(_ key: AnyPublicKey) { self.init(key.description.uppercased()) }

    /// The lines for standard output as it is.
    var terminalLines: [String] {
        let style = Style.ofStandardOutput
        return stride(from: -Self.quietZone, to: size + Self.quietZone, by: 2).map { row in
            let line = (-Self.quietZone..<size + Self.quietZone).map { column in
                style.character(upper: isDark(row, column), lower: isDark(row + 1, column))
            }
            return style.start + String(line) + style.end
        }
    }

    private func isDark(_ row: Int, _ column: Int) -> Bool {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return false }
        return isDark[row * size + column]
    }

    private static let quietZone = 4
}

extension QRCode {
    /// How light and dark come about.
    enum Style {
        /// Black blocks on white, by escape sequences: right on every terminal with colors, light or dark.
        case colored
        /// No escape sequences; the blocks are the light modules: right where text is lighter than what it stands on.
        case plain

        /// Colored on a terminal that knows colors, unless `NO_COLOR` is set and not empty (no-color.org).
        static var ofStandardOutput: Style {
            let environment = ProcessInfo.processInfo.environment
            let knowsColors = !["", "dumb"].contains(environment["TERM"] ?? "")
            let wantsColors = (environment["NO_COLOR"] ?? "").isEmpty
            return isatty(STDOUT_FILENO) == 1 && knowsColors && wantsColors ? .colored : .plain
        }

        /// The character for two modules, one above the other.
        fileprivate func character(upper: Bool, lower: Bool) -> Character {
            let isBlock = self == .colored ? (upper, lower) : (!upper, !lower)
            return switch isBlock {
            case (true, true): "█"
            case (true, false): "▀"
            case (false, true): "▄"
            case (false, false): " "
            }
        }

        /// Colors 16 and 231 of the 256: black and white in every theme, where the first sixteen are anybody's choice.
        fileprivate var start: String { self == .colored ? "\u{1b}[38;5;16;48;5;231m" : "" }
        fileprivate var end: String { self == .colored ? "\u{1b}[0m" : "" }
    }
}
