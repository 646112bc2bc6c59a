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
        effects += push.shown?.effects ?? []
        return effects.isEmpty ? nil : effects.joined(separator: " · ")
    }

    private static func paragraphs(_ push: DeliveredPush) -> [String] {
        push.shown.map { $0.texts + $0.attachments.map { line($0) } } ?? ["(nothing shown)"]
    }

    private static func line(_ attachment: ShownAttachment) -> String {
        let size = attachment.byteCount < 1_000 ? "\(attachment.byteCount) bytes" : "\(attachment.byteCount / 1_000) kB"
        return "[\(attachment.kind.rawValue) \(attachment.name), \(size)]"
    }

    /// Returns a box around the given paragraphs. ``TerminalWidth`` determines the width of characters.
    private static func box(title: String, _ paragraphs: [String]) -> [String] {
        let heading = FittedText.clipped(TerminalText.printable(title), to: width)
        let rule = String(repeating: "─", count: width - TerminalWidth.columns(of: heading))
        let lines = paragraphs.flatMap { FittedText.wrapped($0, to: width) }
        return ["╭ \(heading) \(rule)╮"] + lines.map { "│ \(TerminalWidth.padded($0, to: width)) │" } + [
            "╰\(String(repeating: "─", count: width + 2))╯"
        ]
    }

    private static let width = 34
}

/// Text that fits into a number of columns.
private enum FittedText {
    static func clipped(_ text: String, to width: Int) -> String {
        TerminalWidth.columns(of: text) <= width ? text : (wrapped(text, to: width - 1).first ?? "") + "…"
    }

    /// Returns lines of at most `width` columns, broken at spaces if possible. Control characters become spaces, so that
    /// no text can move the terminal's cursor.
    static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in TerminalText.printable(text).split(separator: " ", omittingEmptySubsequences: true) {
            for piece in pieces(of: String(word), width: width) {
                let candidate = line.isEmpty ? piece : "\(line) \(piece)"
                if TerminalWidth.columns(of: candidate) <= width {
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
            if TerminalWidth.columns(of: piece) + TerminalWidth.columns(of: character) > width {
                pieces.append(piece)
                piece = ""
            }
            piece.append(character)
        }
        return pieces + [piece]
    }
}
