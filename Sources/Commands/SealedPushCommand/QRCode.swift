internal import Clibqrencode
internal import Foundation
internal import PushCore
internal import PushKeyring

/// A QR code for a terminal, drawn with half blocks: two rows of modules per line, and a quiet zone of four modules.
///
/// Uses error correction level M. Text of digits, capitals, and ` $%*+-./:` makes a small code: a key in capitals takes 33 by
/// 33 modules, or 41 columns and 21 lines with its quiet zone. Source: ISO/IEC 18004; libqrencode does the encoding.
struct QRCode {
    private let size: Int
    /// The modules, row by row, without the quiet zone.
    private let isDark: [Bool]

    /// Returns nil if the text is empty, contains a zero byte, or is too long for a code (over about 2,300 bytes).
    init?(_ text: String) {
        guard !text.utf8.contains(0), let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else {
            return nil
        }
        defer { QRcode_free(code) }
        size = Int(code.pointee.width)
        // The lowest bit of a module's byte is its color; the other bits are internal to the library.
        isDark = UnsafeBufferPointer(start: code.pointee.data, count: size * size).map { $0 & 1 == 1 }
    }

    /// Encodes a key's text: in capitals, if ``AnyPublicKey/init(parsing:)`` also accepts those.
    init?(_ key: AnyPublicKey) {
        let capitals = key.description.uppercased()
        self.init((try? AnyPublicKey(parsing: capitals)) == key ? capitals : key.description)
    }

    /// The code's lines, in the style that suits standard output.
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
    /// The way in which light and dark modules are drawn.
    enum Style {
        /// Black blocks on white, drawn with escape sequences. Readable on any color terminal, light or dark.
        case colored
        /// No escape sequences; the blocks are the light modules. Readable if text is lighter than its background.
        case plain

        static var ofStandardOutput: Style { TerminalText.hasColor(STDOUT_FILENO) ? .colored : .plain }

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

        /// Colors 16 and 231 of the 256-color palette. They're black and white in every theme; the first sixteen vary.
        fileprivate var start: String { self == .colored ? "\u{1b}[38;5;16;48;5;231m" : "" }
        fileprivate var end: String { self == .colored ? "\u{1b}[0m" : "" }
    }
}
