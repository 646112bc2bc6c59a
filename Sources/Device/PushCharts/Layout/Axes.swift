import SealedPush

/// The numbers at the right, and their lines.
struct AxisNumbers {
    private let ticks: [(value: Double, text: String)]
    /// What the numbers take of the picture's width, in points.
    let width: Double

    init(_ axis: ValueAxis, _ chart: PushChart, decimalSeparator: String) {
        let (prefix, suffix) = (TextMeasure.printable(chart.prefix), TextMeasure.printable(chart.suffix))
        ticks = axis.ticks.map { tick in
            var number = axis.text(of: tick, decimalSeparator: decimalSeparator)
            // A sign stands before the currency.
            let sign = number.first == "\u{2212}" && !prefix.isEmpty ? String(number.removeFirst()) : ""
            let text = sign + prefix + number + suffix
            return (tick, TextMeasure.shortened(text, size: Self.size, to: Self.maximumWidth - Self.distance))
        }
        let widest = ticks.map { TextMeasure.width($0.text, size: Self.size) }.max() ?? 0
        width = widest + Self.distance
    }

    func draw(into drawing: inout Drawing, _ plot: Plot, _ palette: Palette) {
        for (value, text) in ticks {
            let y = plot.y(value)
            let line = Path.polyline([Path.Point(x: plot.left, y: y), Path.Point(x: plot.right, y: y)])
            let isZero = abs(value) < (plot.axis.upper - plot.axis.lower) * 1e-9
            drawing.marks.append(.stroke(line, isZero ? palette.base : palette.grid, width: 1))
            drawing.marks.append(
                .text(
                    Drawing.Label(
                        text: text, size: Self.size, color: palette.text, x: plot.right + Self.distance,
                        baseline: y + Self.size * 0.36, anchor: .start)))
        }
    }

    private static let size = 11.0
    private static let distance = 8.0
    /// So that no unit and no number leaves the plot too little.
    private static let maximumWidth = 140.0
}

/// The labels below.
struct AxisLabels {
    private let labels: [String]

    init(_ labels: [String]) { self.labels = labels.map(TextMeasure.printable) }

    func draw(into drawing: inout Drawing, _ plot: Plot, _ palette: Palette) {
        let placed = labels.enumerated().map { place($0.offset, $0.element, in: plot, of: drawing) }
        // Every label, or every second, or every third …: the fewest are left out with which none touch.
        for every in 1...max(1, placed.count) {
            let shown = stride(from: 0, to: placed.count, by: every).map { placed[$0] }
            let isClear = zip(shown, shown.dropFirst()).allSatisfy { $0.end + Self.distance <= $1.start }
            guard isClear || every == placed.count else { continue }
            for label in shown where !label.text.allSatisfy({ $0 == " " }) {
                drawing.marks.append(
                    .text(
                        Drawing.Label(
                            text: label.text, size: Self.size, color: palette.text, x: (label.start + label.end) / 2,
                            baseline: plot.bottom + Self.height - 2, anchor: .middle)))
            }
            return
        }
    }

    private struct Placed {
        let text: String
        let start: Double
        let end: Double
    }

    /// Evenly from the first point to the last, but within the picture.
    private func place(_ index: Int, _ text: String, in plot: Plot, of drawing: Drawing) -> Placed {
        let part = labels.count > 1 ? Double(index) / Double(labels.count - 1) : 0
        let middle = plot.x(0) + part * (plot.x(plot.count - 1) - plot.x(0))
        let right = drawing.width - Self.edge
        let text = TextMeasure.shortened(text, size: Self.size, to: right - plot.left)
        let width = TextMeasure.width(text, size: Self.size)
        let start = max(plot.left, min(right - width, middle - width / 2))
        return Placed(text: text, start: start, end: start + width)
    }

    /// What the labels take of the picture's height, in points.
    static let height = 20.0
    private static let size = 11.0
    private static let distance = 6.0
    private static let edge = 6.0
}

/// Where values lie in the picture: the part of it that is not margin, and the two directions.
struct Plot {
    let left: Double
    let top: Double
    let right: Double
    let bottom: Double
    let axis: ValueAxis
    let count: Int
    /// Whether each point has a slot of the width to itself, as a bar has, or the first and last lie at the edges.
    let hasSlots: Bool

    var width: Double { right - left }

    func x(_ index: Int) -> Double {
        if hasSlots { return left + slotWidth * (Double(index) + 0.5) }
        guard count > 1 else { return left + width / 2 }
        return left + width * Double(index) / Double(count - 1)
    }

    var slotWidth: Double { width / Double(max(1, count)) }

    func y(_ value: Double) -> Double { bottom - (bottom - top) * axis.height(of: value) }

    func point(_ index: Int, _ value: Double) -> Path.Point { Path.Point(x: x(index), y: y(value)) }

    /// The points between gaps.
    func runs(_ points: [Double?]) -> [[Path.Point]] {
        var runs: [[Path.Point]] = []
        var run: [Path.Point] = []
        for (index, value) in points.enumerated() {
            if let value {
                run.append(point(index, value))
            } else if !run.isEmpty {
                runs.append(run)
                run = []
            }
        }
        return run.isEmpty ? runs : runs + [run]
    }
}
