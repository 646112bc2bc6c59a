import SealedPush

/// A bar for each value, from zero upwards or downwards.
struct Bars {
    private let plot: Plot
    private let palette: Palette

    init(_ plot: Plot, _ palette: Palette) {
        self.plot = plot
        self.palette = palette
    }

    func draw(_ points: [Double?], into drawing: inout Drawing) {
        let width = min(Self.maximumWidth, plot.slotWidth * (plot.slotWidth > 3 ? 0.68 : 1))
        let zero = plot.y(0)
        for (index, value) in points.enumerated() {
            guard let value else { continue }
            // Zero is a thin line, and no gap.
            let height = max(1, abs(plot.y(value) - zero))
            let radius = min(4, width / 2, height)
            let (left, right) = (plot.x(index) - width / 2, plot.x(index) + width / 2)
            let isBelow = value < 0
            let path = Path.rectangle(
                left: left, top: isBelow ? zero : zero - height, right: right, bottom: isBelow ? zero + height : zero,
                topRadius: isBelow ? 0 : radius, bottomRadius: isBelow ? radius : 0)
            drawing.marks.append(.fill(path, .color(palette.ink)))
        }
    }

    private static let maximumWidth = 44.0
}
