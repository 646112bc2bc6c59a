internal import Foundation
internal import SealedPush

/// A lock screen as text: what a person sees, in a box.
public enum LockScreen {
    /// The lines of a box of `width` columns around the given paragraphs. Wide characters count as they are counted by
    /// ``TextWidth``.
    public static func box(title: String, _ paragraphs: [String], width: Int = 38) -> [String] {
        let inner = max(8, width - 4)
        let heading = TextWidth.clipped(title, to: inner)
        let rule = String(repeating: "─", count: inner - TextWidth.columns(of: heading))
        let lines = paragraphs.flatMap { TextWidth.wrapped($0, to: inner) }
        return ["╭ \(heading) \(rule)╮"] + lines.map { "│ \(TextWidth.padded($0, to: inner)) │" } + [
            "╰\(String(repeating: "─", count: inner + 2))╯"
        ]
    }

    /// A box around what one push shows, then what became of it and what went wrong.
    public static func lines(_ push: DeliveredPush, on device: String) -> [String] {
        let detail = [push.outcome.rawValue, push.reason, push.note].compactMap { $0 }.joined(separator: ": ")
        let time = push.elapsed.map { ", \($0.formatted(.units(allowed: [.milliseconds])))" } ?? ""
        return box(title: device, paragraphs(push)) + ["  \(TerminalText.printable(detail))\(time)"]
            + push.remarks.map { "  \(TerminalText.printable($0))" }
    }

    /// What one push looks like.
    static func paragraphs(_ push: DeliveredPush) -> [String] {
        guard let shown = push.shown else { return ["(nothing is shown)"] }
        return [shown.title, shown.subtitle, shown.body].filter { !$0.isEmpty } + shown.attachments.map { line($0) }
    }

    private static func line(_ attachment: ShownAttachment) -> String {
        let size =
            attachment.byteCount < 1_000 ? "\(attachment.byteCount) bytes" : "\(attachment.byteCount / 1_000) kB"
        return "[\(attachment.kind.rawValue) \(attachment.name), \(size)]"
    }
}
