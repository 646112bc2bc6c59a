internal import PushSimulator

/// What is said about a push, laid out beside the phone.
struct CaptionBlock {
    let height: Double
    private let number: NumberMark
    private let texts: [(block: TextBlock, y: Double)]

    init(_ caption: Caption, width: Double, isDark: Bool, on canvas: Canvas) {
        number = NumberMark(caption.number, caption.outcome, on: canvas)
        let ink = Ink(isDark ? 0xf2f2f7 : 0x1c1c1e)
        let pale = Ink(isDark ? 0xf2f2f7 : 0x1c1c1e, alpha: 0.7)
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
