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
        canvas.fill(Ink(scene.isDark ? 0x101014 : 0xf2f2f7))
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
        canvas.fill(Ink(scene.isDark ? 0x2c2c30 : 0x0b0b0d))
        let (left, top) = (x + Self.bezel, y + Self.bezel)
        let (width, inner) = (Self.phoneWidth - 2 * Self.bezel, height - 2 * Self.bezel)
        canvas.rectangle(x: left, y: top, width: width, height: inner, radius: 44)
        let inks = scene.isDark ? [0x152a4a, 0x2a1f45, 0x3c1f2c] : [0xa9c8f5, 0xcdb9ee, 0xf2c6cf] as [UInt32]
        canvas.fill(inks.map { Ink($0) }, from: (left, top), to: (left + width * 0.4, top + inner))
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
        let ink = Ink(scene.isDark ? 0xf2f2f7 : 0x1c1c1e, alpha: 0.7)
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
            let block = CardBlock(card, width: Painter.cardWidth, isDark: scene.isDark, on: canvas)
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
            let block = CaptionBlock(caption, width: Painter.captionWidth, isDark: scene.isDark, on: canvas)
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
