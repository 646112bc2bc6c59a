import SealedPush

/// A line through the points, broken at gaps, with what lies below it.
struct Lines {
    private let kind: PushChart.Kind
    private let plot: Plot
    private let palette: Palette

    init(_ kind: PushChart.Kind, _ plot: Plot, _ palette: Palette) {
        self.kind = kind
        self.plot = plot
        self.palette = palette
    }

    func draw(_ points: [Double?], into drawing: inout Drawing) {
        let runs = plot.runs(points)
        let width = points.count > Self.manyPoints ? 1.75 : 2.5
        if let fill { for run in runs where run.count > 1 { drawing.marks.append(area(below: run, fill)) } }
        for run in runs {
            if run.count > 1 {
                drawing.marks.append(.stroke(.polyline(run), palette.ink, width: width))
            } else {
                drawing.marks.append(.fill(.circle(run[0], radius: width), .color(palette.ink)))
            }
        }
        // The newest value, set off from its line.
        guard let newest = runs.last?.last else { return }
        drawing.marks.append(.fill(.circle(newest, radius: 6), .color(palette.background)))
        drawing.marks.append(.fill(.circle(newest, radius: 4), .color(palette.ink)))
    }

    private struct Fill {
        let base: Double
        let paint: Drawing.Paint
    }

    /// Down to zero, or up to it, for an area; for a sparkline, which has no zero, to the bottom.
    private var fill: Fill? {
        let (strong, faint) = (palette.ink.opacity(0.42), palette.ink.opacity(0.06))
        switch kind {
        case .line, .bar: return nil
        case .area:
            let zero = plot.y(0)
            return Fill(
                base: zero,
                paint: .gradient([
                    Drawing.Stop(y: plot.top, color: strong), Drawing.Stop(y: zero, color: faint),
                    Drawing.Stop(y: plot.bottom, color: strong),
                ]))
        case .sparkline:
            let bottom = plot.bottom + 8
            return Fill(
                base: bottom,
                paint: .gradient([
                    Drawing.Stop(y: plot.top, color: strong), Drawing.Stop(y: bottom, color: palette.ink.opacity(0)),
                ]))
        }
    }

    private func area(below run: [Path.Point], _ fill: Fill) -> Drawing.Mark {
        let ends = [Path.Point(x: run[run.count - 1].x, y: fill.base), Path.Point(x: run[0].x, y: fill.base)]
        var path = Path.polyline(run + ends)
        path.close()
        return .fill(path, fill.paint)
    }

    /// From here on a line is thinner, so that it stays one.
    private static let manyPoints = 120
}

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
