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

    /// What one push looks like.
    public static func paragraphs(_ push: DeliveredPush) -> [String] {
        guard let shown = push.shown else { return ["(nothing is shown)"] }
        return [shown.title, shown.subtitle, shown.body].filter { !$0.isEmpty }
    }
}
