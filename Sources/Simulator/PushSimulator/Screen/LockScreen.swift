internal import Foundation
internal import PushCore
internal import SealedPush

/// A lock screen as text: what a person sees, in a box.
package enum LockScreen {
    /// The lines of a box of `width` columns around the given paragraphs. Wide characters count as they are counted by
    /// ``TextWidth``.
    package static func box(title: String, _ paragraphs: [String], width: Int = 38) -> [String] {
        let inner = max(8, width - 4)
        let heading = TextWidth.clipped(TerminalText.printable(title), to: inner)
        let rule = String(repeating: "─", count: inner - TextWidth.columns(of: heading))
        let lines = paragraphs.flatMap { TextWidth.wrapped($0, to: inner) }
        return ["╭ \(heading) \(rule)╮"] + lines.map { "│ \(TextWidth.padded($0, to: inner)) │" } + [
            "╰\(String(repeating: "─", count: inner + 2))╯"
        ]
    }

    /// A box around what one push shows, then what became of it and what went wrong.
    package static func lines(_ push: DeliveredPush, on device: String) -> [String] {
        let detail = [push.outcome.rawValue, push.reason, push.note].compactMap { $0 }.joined(separator: ": ")
        let time = push.elapsed.map { ", \($0.formatted(.units(allowed: [.milliseconds])))" } ?? ""
        return box(title: device, paragraphs(push)) + ["  \(TerminalText.printable(detail))\(time)"]
            + [effects(push)].compactMap { $0 }.map { "  \(TerminalText.printable($0))" }
            + push.remarks.map { "  \(TerminalText.printable($0))" }
    }

    /// A notification that a person has expanded.
    package static func lines(_ expansion: ShownExpansion, on device: String) -> [String] {
        let rows = expansion.rows.map { $0.text ?? "[\($0.file?.lastPathComponent ?? "")]" }
        let note = expansion.note.map { ["  \(TerminalText.printable($0))"] } ?? []
        return box(title: "\(device), expanded", rows) + note
    }

    /// What is heard, and what is unusual about it; nil for a silent notification like most.
    private static func effects(_ push: DeliveredPush) -> String? {
        var effects: [String] = []
        if let ring = push.ring { effects.append("rings: \(ring.sound)\(ring.isCritical ? ", even when muted" : "")") }
        if let badge = push.badge { effects.append("badge \(badge)") }
        if let shown = push.shown {
            if !shown.thread.isEmpty { effects.append("thread \(shown.thread)") }
            if !shown.category.isEmpty { effects.append("category \(shown.category)") }
            if shown.interruptionLevel != "active" { effects.append(shown.interruptionLevel) }
            if shown.relevanceScore != 0 { effects.append("relevance \(shown.relevanceScore)") }
        }
        return effects.isEmpty ? nil : effects.joined(separator: " · ")
    }

    /// What one push looks like.
    static func paragraphs(_ push: DeliveredPush) -> [String] {
        push.shown.map { paragraphs($0) } ?? ["(nothing is shown)"]
    }

    private static func paragraphs(_ shown: ShownNotification) -> [String] {
        shown.texts + shown.attachments.map { line($0) }
    }

    private static func line(_ attachment: ShownAttachment) -> String {
        let size = attachment.byteCount < 1_000 ? "\(attachment.byteCount) bytes" : "\(attachment.byteCount / 1_000) kB"
        return "[\(attachment.kind.rawValue) \(attachment.name), \(size)]"
    }
}
