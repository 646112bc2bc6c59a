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

/// Text that is nothing but text, wherever it stands in a page.
enum HTMLText {
    /// Everything that HTML gives a meaning, and everything that can't be seen but acts, becomes a character reference.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0a: escaped += "\n"
            // References to control characters mean nothing good either.
            case 0...0x1f, 0x7f...0x9f: escaped += " "
            case 0x26, 0x3c, 0x3e, 0x22, 0x27, 0x60: escaped += "&#\(scalar.value);"
            default:
                switch scalar.properties.generalCategory {
                case .format, .lineSeparator, .paragraphSeparator: escaped += "&#\(scalar.value);"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }
}

/// How the page looks: as the painted picture does.
enum PageStyle {
    static let css = """
        * { box-sizing: border-box; margin: 0; }
        body { display: flex; gap: 44px; align-items: flex-start; padding: 28px; background: #f2f2f7; color: #1c1c1e;
          font: 15px/20px -apple-system, "SF Pro Text", Inter, "Helvetica Neue", "DejaVu Sans", sans-serif; }
        body.dark { background: #101014; color: #f2f2f7; }
        .phone { width: 417px; min-height: 560px; flex: none; padding: 46px 10px 34px; border: 12px solid #0b0b0d;
          border-radius: 56px; background: linear-gradient(160deg, #a9c8f5, #cdb9ee 55%, #f2c6cf); }
        .dark .phone { background: linear-gradient(160deg, #152a4a, #2a1f45 55%, #3c1f2c); border-color: #2c2c30; }
        .clock { margin-bottom: 30px; text-align: center; color: #fff; font-size: 76px; line-height: 84px;
          font-weight: 600; }
        .row { position: relative; margin-bottom: 8px; }
        .row > .number { position: absolute; top: 14px; right: -52px; }
        .card { position: relative; display: flex; gap: 10px; align-items: center; padding: 12px 14px;
          border-radius: 22px; background: #f5f5f8e6; color: #000; }
        .dark .card { background: #2c2c31e6; color: #fff; }
        .card.one { margin-bottom: 16px; box-shadow: 0 12px 0 -6px #e4e4eb; }
        .card.two { margin-bottom: 22px; box-shadow: 0 12px 0 -6px #e4e4eb, 0 24px 0 -12px #d2d2dc; }
        .dark .card.one { box-shadow: 0 12px 0 -6px #232328; }
        .dark .card.two { box-shadow: 0 12px 0 -6px #232328, 0 24px 0 -12px #1b1b20; }
        .icon { width: 38px; height: 38px; flex: none; align-self: flex-start; border-radius: 9px; color: #fff;
          background: linear-gradient(#4aa3ff, #0a66e0); font-size: 20px; line-height: 38px; text-align: center;
          font-weight: 600; overflow: hidden; }
        .text { flex: 1; min-width: 0; }
        .level { font-size: 11px; line-height: 15px; font-weight: 600; opacity: .6; }
        .head { display: flex; gap: 8px; font-size: 13px; line-height: 17px; opacity: .6; }
        .head bdi { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .title, .subtitle { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 600;
          text-align: start; }
        .body { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 4;
          line-clamp: 4; white-space: pre-line; overflow-wrap: anywhere; text-align: start; }
        .below { font-size: 13px; line-height: 18px; opacity: .6; }
        .preview { width: 44px; height: 44px; flex: none; border-radius: 7px; background: #8e8e93; color: #fff;
          font-size: 20px; line-height: 44px; text-align: center; }
        .captions { max-width: 340px; padding: 174px 0 0; list-style: none; font-size: 13px; line-height: 18px; }
        .captions li { display: flex; gap: 10px; margin-bottom: 18px; overflow-wrap: anywhere; }
        .captions strong { font-size: 15px; line-height: 22px; }
        .captions div div { opacity: .7; }
        .number { width: 22px; height: 22px; flex: none; border-radius: 11px; background: #8e8e93; color: #fff;
          font-size: 12px; line-height: 22px; text-align: center; font-weight: 600; }
        .number.opened { background: #28a745; }
        .number.safe-default { background: #f08c00; }
        .number.original { background: #e03131; }
        .left-out { padding: 8px 14px; opacity: .7; }
        """
}
