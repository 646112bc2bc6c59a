internal import Cpangocairo

/// A notification, laid out: its height is known before it is painted.
struct CardBlock {
    let height: Double
    private let card: Card
    private let isDark: Bool
    private let canvas: Canvas
    private let rows: [Row]
    private let name: TextBlock
    private let time: TextBlock
    private let width: Double

    private struct Row {
        let text: TextBlock
        let y: Double
    }

    init(_ card: Card, width: Double, isDark: Bool, on canvas: Canvas) {
        self.card = card
        self.width = width
        self.isDark = isDark
        self.canvas = canvas
        let ink = Ink(isDark ? 0xffffff : 0x000000)
        let pale = Ink(isDark ? 0xffffff : 0x000000, alpha: 0.6)
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
        let base: UInt32 = isDark ? 0x2c2c31 : 0xf5f5f8
        // What lies below peeks out, narrower and darker.
        for depth in stride(from: min(2, card.belowCount), to: 0, by: -1) {
            let inset = Double(depth) * 12
            canvas.rectangle(
                x: x + inset, y: y + cardHeight - 40 + Self.stackEdge * Double(depth), width: width - inset * 2,
                height: 40, radius: 18)
            let shades: [UInt32] = isDark ? [0x232328, 0x1b1b20] : [0xe4e4eb, 0xd2d2dc]
            canvas.fill(Ink(shades[depth - 1]))
        }
        canvas.rectangle(x: x, y: y, width: width, height: cardHeight, radius: 22)
        canvas.fill(Ink(base, alpha: card.belowCount > 0 ? 1 : 0.9))
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
