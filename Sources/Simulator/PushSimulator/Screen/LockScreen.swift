internal import Foundation
internal import PushCore
internal import SealedPush

/// A lock screen as text, drawn as a box.
package enum LockScreen {
    /// Returns a box with the notification that one push shows, followed by its outcome and any problems.
    package static func lines(_ push: DeliveredPush, on device: String) -> [String] {
        let detail = [push.outcome.rawValue, push.reason, push.note].compactMap { $0 }.joined(separator: ": ")
        let time = push.elapsed.map { ", \($0.formatted(.units(allowed: [.milliseconds])))" } ?? ""
        return box(title: device, paragraphs(push)) + ["  \(TerminalText.printable(detail))\(time)"]
            + [effects(push)].compactMap { $0 }.map { "  \(TerminalText.printable($0))" }
            + push.remarks.map { "  \(TerminalText.printable($0))" }
    }

    /// Returns a box with an expanded notification.
    package static func lines(_ expansion: ShownExpansion, on device: String) -> [String] {
        let rows = expansion.rows.map { $0.text ?? "[\($0.file?.lastPathComponent ?? "")]" }
        let note = expansion.note.map { ["  \(TerminalText.printable($0))"] } ?? []
        return box(title: "\(device), expanded", rows) + note
    }

    /// Returns the sound and other special effects; nil for a plain, silent notification, as most are.
    private static func effects(_ push: DeliveredPush) -> String? {
        var effects: [String] = []
        if let ring = push.ring { effects.append("rings: \(ring.sound)\(ring.isCritical ? ", even when muted" : "")") }
        if let badge = push.badge { effects.append("badge \(badge)") }
        if !push.removed.isEmpty { effects.append("removes \(push.removed.count)") }
        if let shown = push.shown {
            if !shown.thread.isEmpty { effects.append("thread \(shown.thread)") }
            if !shown.category.isEmpty { effects.append("category \(shown.category)") }
            if shown.interruptionLevel != "active" { effects.append(shown.interruptionLevel) }
            if shown.relevanceScore != 0 { effects.append("relevance \(shown.relevanceScore)") }
        }
        return effects.isEmpty ? nil : effects.joined(separator: " · ")
    }

    private static func paragraphs(_ push: DeliveredPush) -> [String] {
        push.shown.map { $0.texts + $0.attachments.map { line($0) } } ?? ["(nothing shown)"]
    }

    private static func line(_ attachment: ShownAttachment) -> String {
        let size = attachment.byteCount < 1_000 ? "\(attachment.byteCount) bytes" : "\(attachment.byteCount / 1_000) kB"
        return "[\(attachment.kind.rawValue) \(attachment.name), \(size)]"
    }

    /// Returns a box around the given paragraphs. ``TextWidth`` determines the width of characters.
    private static func box(title: String, _ paragraphs: [String]) -> [String] {
        let heading = TextWidth.clipped(TerminalText.printable(title), to: width)
        let rule = String(repeating: "─", count: width - TextWidth.columns(of: heading))
        let lines = paragraphs.flatMap { TextWidth.wrapped($0, to: width) }
        return ["╭ \(heading) \(rule)╮"] + lines.map { "│ \(TextWidth.padded($0, to: width)) │" } + [
            "╰\(String(repeating: "─", count: width + 2))╯"
        ]
    }

    private static let width = 34
}

/// The number of columns that text occupies in a terminal. Emoji and East Asian wide characters take two.
private enum TextWidth {
    static func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }

    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(of: text)))
    }

    static func clipped(_ text: String, to width: Int) -> String {
        columns(of: text) <= width ? text : (wrapped(text, to: width - 1).first ?? "") + "…"
    }

    /// Returns lines of at most `width` columns, broken at spaces if possible. Control characters become spaces, so that
    /// no text can move the terminal's cursor.
    static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in TerminalText.printable(text).split(separator: " ", omittingEmptySubsequences: true) {
            for piece in pieces(of: String(word), width: width) {
                let candidate = line.isEmpty ? piece : "\(line) \(piece)"
                if columns(of: candidate) <= width {
                    line = candidate
                } else {
                    lines.append(line)
                    line = piece
                }
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private static func pieces(of word: String, width: Int) -> [String] {
        var pieces: [String] = []
        var piece = ""
        for character in word {
            if columns(of: piece) + columns(of: character) > width {
                pieces.append(piece)
                piece = ""
            }
            piece.append(character)
        }
        return pieces + [piece]
    }

    private static func columns(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{fe0f}") { return 2 }
        if first.properties.generalCategory == .nonspacingMark || first.properties.isDefaultIgnorableCodePoint {
            return 0
        }
        return wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The wide blocks of Unicode Standard Annex 11.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
        0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x20000...0x3fffd,
    ]
}
