internal import Foundation
internal import PushSimulator

/// The scene as a page of HTML that fetches nothing and runs nothing.
struct Page {
    private let scene: Scene

    init(_ scene: Scene) { self.scene = scene }

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
        <meta name="viewport" content="width=device-width">
        <title>Lock screen</title>
        <style>
        \(PageStyle.css)
        </style>
        </head>
        <body class="\(scene.isDark ? "dark" : "light")">
        <section class="phone">
        <div class="clock">9:41</div>
        \(scene.cards.map { card($0) }.joined(separator: "\n"))
        \(more(scene.hiddenCardCount, "conversations"))
        </section>
        <ol class="captions">
        \(scene.captions.map { caption($0) }.joined(separator: "\n"))
        \(more(scene.hiddenCaptionCount, "pushes"))
        </ol>
        </body>
        </html>

        """
    }

    private func card(_ card: Card) -> String {
        let stack = card.belowCount > 1 ? " two" : card.belowCount == 1 ? " one" : ""
        let level = card.level.map { "<div class=\"level\">\(HTMLText.escaped($0))</div>" } ?? ""
        let texts = [("title", card.title), ("subtitle", card.subtitle), ("body", card.body)]
            .filter { !$0.1.isEmpty }
            .map { "<div class=\"\($0.0)\" dir=\"auto\">\(HTMLText.escaped($0.1))</div>" }
        let below = card.belowCount > 0 ? "<div class=\"below\">\(card.belowCount) more</div>" : ""
        return """
            <div class="row"><article class="card\(stack)"><div class="icon">\(HTMLText.escaped(card.initial))</div>\
            <div class="text">\(level)<div class="head"><bdi>\(HTMLText.escaped(card.appName))</bdi>\
            <span class="time">now</span></div>
            \(texts.joined(separator: "\n"))
            \(below)</div>\(card.attachment.map { preview($0) } ?? "")</article>\
            <span class="number \(card.outcome.rawValue)">\(card.number)</span></div>
            """
    }

    private func preview(_ preview: Preview) -> String {
        switch preview {
        case .picture(let thumbnail):
            guard let png = thumbnail.png, png.count <= Self.maximumThumbnailByteCount else { return sign("?") }
            return "<img class=\"preview\" alt=\"\" src=\"data:image/png;base64,\(png.base64EncodedString())\">"
        case .sign(let text): return sign(text)
        }
    }

    private func sign(_ text: String) -> String { "<div class=\"preview\">\(HTMLText.escaped(text))</div>" }

    private func caption(_ caption: Caption) -> String {
        let lines = caption.lines.map { "<div dir=\"auto\">\(HTMLText.escaped($0))</div>" }.joined()
        return """
            <li><span class="number \(caption.outcome.rawValue)">\(caption.number)</span>\
            <div><strong>\(HTMLText.escaped(caption.heading))</strong>\(lines)</div></li>
            """
    }

    private func more(_ count: Int, _ what: String) -> String {
        count > 0 ? "<div class=\"left-out\">and \(count) \(what) more</div>" : ""
    }

    /// A thumbnail's pixels without compression have fewer.
    private static let maximumThumbnailByteCount = 80_000
}
