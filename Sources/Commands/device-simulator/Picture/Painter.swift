internal import Cpangocairo
internal import Foundation
internal import PushSimulator

/// The scene as a PNG file: the phone at the left, the captions at the right.
struct Painter {
    private let scene: Scene

    init(_ scene: Scene) { self.scene = scene }

    func png() throws(LockScreenPictureError) -> Data {
        // Once to learn the heights, on a canvas that is thrown away, and then for good.
        let sketch = Blocks(scene, on: try Canvas(width: 1, height: 1))
        let phoneHeight = max(Self.minimumPhoneHeight, sketch.cardsEnd + 34)
        let height = max(phoneHeight, sketch.captionsEnd) + 2 * Self.margin
        let canvas = try Canvas(width: Self.width, height: height.rounded(.up))
        canvas.rectangle(x: 0, y: 0, width: Self.width, height: height + 1)
        canvas.fill(Ink(0xf2f2f7))
        paintPhone(height: phoneHeight, on: canvas)
        let blocks = Blocks(scene, on: canvas)
        for (card, y) in blocks.cards { card.paint(x: Self.cardLeft, y: Self.margin + y) }
        for (caption, y) in blocks.captions { caption.paint(x: Self.captionLeft, y: Self.margin + y) }
        for link in blocks.links { paint(link, on: canvas) }
        blocks.moreCards.paint(x: Self.cardLeft + 14, y: Self.margin + blocks.cardsEnd - blocks.moreCards.height)
        blocks.moreCaptions.paint(x: Self.captionLeft, y: Self.margin + blocks.captionsEnd - blocks.moreCaptions.height)
        return try canvas.png()
    }

    /// From a card to its caption.
    private func paint(_ link: Blocks.Link, on canvas: Canvas) {
        let (left, right) = (Self.margin + Self.phoneWidth + 8, Self.captionLeft - 6)
        let (from, to) = (Self.margin + link.card, Self.margin + link.caption)
        let middle = (left + right) / 2
        canvas.curve(from: (left, from), to: (right, to), (middle, from), (middle, to))
        canvas.stroke(Ink.of(link.outcome), width: 1.5)
        canvas.rectangle(x: left - 4, y: from - 4, width: 8, height: 8, radius: 4)
        canvas.fill(Ink.of(link.outcome))
    }

    private func paintPhone(height: Double, on canvas: Canvas) {
        let (x, y) = (Self.margin, Self.margin)
        canvas.rectangle(x: x, y: y, width: Self.phoneWidth, height: height, radius: 56)
        canvas.fill(Ink(0x0b0b0d))
        let (left, top) = (x + Self.bezel, y + Self.bezel)
        let (width, inner) = (Self.phoneWidth - 2 * Self.bezel, height - 2 * Self.bezel)
        canvas.rectangle(x: left, y: top, width: width, height: inner, radius: 44)
        canvas.fill(
            [Ink(0xa9c8f5), Ink(0xcdb9ee), Ink(0xf2c6cf)], from: (left, top), to: (left + width * 0.4, top + inner))
        // The time that a new phone shows in every advertisement.
        let clock = canvas.text(
            "9:41", TextStyle(size: 76, isBold: true, isCentered: true, ink: Ink(0xffffff, alpha: 0.95)), width: width)
        clock.paint(x: left, y: top + 36)
    }

    private static let margin = 28.0
    private static let bezel = 12.0
    /// As wide as an iPhone 15's screen, and a frame.
    private static let phoneWidth = 393 + 2 * bezel
    private static let minimumPhoneHeight = 560.0
    fileprivate static let cardsTop = bezel + 160
    private static let cardLeft = margin + bezel + 10
    fileprivate static let cardWidth = phoneWidth - 2 * bezel - 20
    private static let captionLeft = margin + phoneWidth + 58
    fileprivate static let captionWidth = 320.0
    private static let width = captionLeft + captionWidth + margin
}

/// Everything that is laid out one below the other, and where it begins, from the phone's upper edge.
private struct Blocks {
    let cards: [(card: CardBlock, y: Double)]
    let captions: [(caption: CaptionBlock, y: Double)]
    let links: [Link]
    let moreCards: TextBlock
    let moreCaptions: TextBlock
    let cardsEnd: Double
    let captionsEnd: Double

    /// A card and its caption, by the heights of their middles.
    struct Link {
        let card: Double
        let caption: Double
        let outcome: DeliveredPush.Outcome
    }

    init(_ scene: Scene, on canvas: Canvas) {
        let ink = Ink(0x1c1c1e, alpha: 0.7)
        func more(_ count: Int, _ what: String) -> TextBlock {
            let text = count > 0 ? "and \(count) \(what) more" : ""
            return canvas.text(text, TextStyle(size: 13, ink: ink), width: Painter.captionWidth)
        }
        moreCards = more(scene.hiddenCardCount, "conversations")
        moreCaptions = more(scene.hiddenCaptionCount, "pushes")
        var cards: [(card: CardBlock, y: Double)] = []
        var tops: [Int: Double] = [:]
        var y = Painter.cardsTop
        for card in scene.cards {
            let block = CardBlock(card, width: Painter.cardWidth, on: canvas)
            cards.append((block, y))
            tops[card.number] = y
            y += block.height + 8
        }
        cardsEnd = y + moreCards.height
        // Each caption beside its card, or as near to it as those above let it.
        var captions: [(caption: CaptionBlock, y: Double)] = []
        var links: [Link] = []
        y = Self.captionsTop
        for caption in scene.captions {
            let block = CaptionBlock(caption, width: Painter.captionWidth, on: canvas)
            if let top = tops[caption.number] {
                y = max(y, top + 12)
                links.append(Link(card: top + 23, caption: y + NumberMark.side / 2, outcome: caption.outcome))
            }
            captions.append((block, y))
            y += block.height + 14
        }
        captionsEnd = y + moreCaptions.height
        (self.cards, self.captions, self.links) = (cards, captions, links)
    }

    private static let captionsTop = 28.0
}

/// A notification, laid out: its height is known before it is painted.
struct CardBlock {
    let height: Double
    private let card: Card
    private let canvas: Canvas
    private let rows: [Row]
    private let name: TextBlock
    private let time: TextBlock
    private let width: Double

    private struct Row {
        let text: TextBlock
        let y: Double
    }

    init(_ card: Card, width: Double, on canvas: Canvas) {
        self.card = card
        self.width = width
        self.canvas = canvas
        let ink = Ink(0x000000)
        let pale = Ink(0x000000, alpha: 0.6)
        let room = width - Self.textLeft - Self.padding - (card.attachment == nil ? 0 : Self.previewSide + 10)
        time = canvas.text("now", TextStyle(size: 13, ink: pale), width: 60)
        name = canvas.text(card.appName, TextStyle(size: 13, ink: pale), width: room - time.width - 8)
        var rows: [Row] = []
        var y = Self.padding
        func add(_ text: String, _ style: TextStyle, lines: Int = 1) {
            guard !text.isEmpty else { return }
            let block = canvas.text(text, style, width: room, maximumLineCount: lines)
            rows.append(Row(text: block, y: y))
            y += block.height + 1
        }
        add(card.level ?? "", TextStyle(size: 11, isBold: true, ink: pale))
        rows.append(Row(text: name, y: y))
        y += name.height + 1
        add(card.title, TextStyle(size: 15, isBold: true, ink: ink))
        add(card.subtitle, TextStyle(size: 15, isBold: true, ink: ink))
        add(card.body, TextStyle(size: 15, ink: ink), lines: 4)
        if card.belowCount > 0 { add("\(card.belowCount) more", TextStyle(size: 13, ink: pale)) }
        self.rows = rows
        let edges = Self.stackEdge * Double(min(2, card.belowCount))
        cardHeight = max(Self.padding * 2 + Self.iconSide, y + Self.padding - 1)
        height = cardHeight + edges
    }

    private let cardHeight: Double

    func paint(x: Double, y: Double) {
        // What lies below peeks out, narrower and darker.
        for depth in stride(from: min(2, card.belowCount), to: 0, by: -1) {
            let inset = Double(depth) * 12
            canvas.rectangle(
                x: x + inset, y: y + cardHeight - 40 + Self.stackEdge * Double(depth), width: width - inset * 2,
                height: 40, radius: 18)
            canvas.fill(Ink(depth == 1 ? 0xe4e4eb : 0xd2d2dc))
        }
        canvas.rectangle(x: x, y: y, width: width, height: cardHeight, radius: 22)
        canvas.fill(Ink(0xf5f5f8, alpha: card.belowCount > 0 ? 1 : 0.9))
        paintIcon(x: x + Self.padding, y: y + Self.padding)
        for row in rows { row.text.paint(x: x + Self.textLeft, y: y + row.y) }
        let nameRow = rows.first { $0.text === name }?.y ?? Self.padding
        let right = x + width - Self.padding
        let previewLeft = right - Self.previewSide
        time.paint(x: (card.attachment == nil ? right : previewLeft - 10) - time.width, y: y + nameRow)
        paintPreview(x: previewLeft, y: y + (cardHeight - Self.previewSide) / 2)
    }

    private func paintIcon(x: Double, y: Double) {
        canvas.rectangle(x: x, y: y, width: Self.iconSide, height: Self.iconSide, radius: 9)
        canvas.fill([Ink(0x4aa3ff), Ink(0x0a66e0)], from: (x, y), to: (x, y + Self.iconSide))
        center(card.initial, size: 20, x: x, y: y, side: Self.iconSide)
    }

    private func paintPreview(x: Double, y: Double) {
        guard let attachment = card.attachment else { return }
        canvas.rectangle(x: x, y: y, width: Self.previewSide, height: Self.previewSide, radius: 7)
        switch attachment {
        case .sign(let sign):
            canvas.fill(Ink(0x8e8e93))
            center(sign, size: 20, x: x, y: y, side: Self.previewSide)
        case .picture(let thumbnail):
            canvas.clipped {
                let scale = Self.previewSide / Double(Thumbnail.side)
                cairo_translate(canvas.context, x, y)
                cairo_scale(canvas.context, scale, scale)
                cairo_set_source_surface(canvas.context, thumbnail.surface, 0, 0)
                cairo_paint(canvas.context)
            }
        }
    }

    private func center(_ text: String, size: Double, x: Double, y: Double, side: Double) {
        let block = canvas.text(
            text, TextStyle(size: size, isBold: true, isCentered: true, ink: Ink(0xffffff)), width: side)
        block.paint(x: x, y: y + (side - block.height) / 2)
    }

    private static let stackEdge = 8.0
    private static let padding = 13.0
    private static let iconSide = 38.0
    private static let textLeft = padding + iconSide + 10
    private static let previewSide = 44.0
}

/// What is said about a push, laid out beside the phone.
struct CaptionBlock {
    let height: Double
    private let number: NumberMark
    private let texts: [(block: TextBlock, y: Double)]

    init(_ caption: Caption, width: Double, on canvas: Canvas) {
        number = NumberMark(caption.number, caption.outcome, on: canvas)
        let ink = Ink(0x1c1c1e)
        let pale = Ink(0x1c1c1e, alpha: 0.7)
        let room = width - Self.textLeft
        var texts: [(block: TextBlock, y: Double)] = []
        var y = 1.0
        let heading = canvas.text(
            caption.heading, TextStyle(size: 15, isBold: true, ink: ink), width: room, maximumLineCount: 2)
        texts.append((heading, y))
        y += heading.height + 2
        for line in caption.lines {
            let block = canvas.text(line, TextStyle(size: 13, ink: pale), width: room, maximumLineCount: 2)
            texts.append((block, y))
            y += block.height + 1
        }
        self.texts = texts
        height = y
    }

    func paint(x: Double, y: Double) {
        number.paint(x: x, y: y)
        for text in texts { text.block.paint(x: x + Self.textLeft, y: y + text.y) }
    }

    private static let textLeft = NumberMark.side + 10
}

/// The number by which a notification and its caption belong together, in the color of what became of it.
struct NumberMark {
    private let text: TextBlock
    private let ink: Ink
    private let canvas: Canvas

    init(_ number: Int, _ outcome: DeliveredPush.Outcome, on canvas: Canvas) {
        self.canvas = canvas
        ink = Ink.of(outcome)
        let size = number < 100 ? 12.0 : 9.0
        text = canvas.text(
            String(number), TextStyle(size: size, isBold: true, isCentered: true, ink: Ink(0xffffff)), width: Self.side)
    }

    func paint(x: Double, y: Double) {
        canvas.rectangle(x: x, y: y, width: Self.side, height: Self.side, radius: Self.side / 2)
        canvas.fill(ink)
        text.paint(x: x, y: y + (Self.side - text.height) / 2)
    }

    static let side = 22.0
}
