import SealedPush

struct ChartDrawing {
    let drawing: Drawing
    /// The part of the picture that is most informative at a small size: the newest points.
    let thumbnail: AttachmentThumbnail.Clip

    /// Nil if the chart has no values. Takes time in proportion to its points; those that aren't finite numbers are gaps.
    init?(_ chart: PushChart, style: ChartStyle) {
        let points = chart.points.map { $0?.isFinite == true ? $0 : nil }
        let values = points.compactMap(\.self)
        guard !values.isEmpty, values.count <= PushChart.maximumPointCount else { return nil }
        let palette = Palette(chart, values, style: style)
        let isSparkline = chart.kind == .sparkline
        let hasAxes = chart.hasAxes && !isSparkline
        let height = isSparkline ? Self.width / 4 : Self.width / 2
        var drawing = Drawing(width: Self.width, height: height, background: palette.background)
        let axis = ValueAxis(values, includesZero: chart.kind == .bar || chart.kind == .area, isTight: !hasAxes)
        let numbers = hasAxes ? AxisNumbers(axis, chart, decimalSeparator: style.decimalSeparator) : nil
        let hasLabels = hasAxes && !chart.labels.isEmpty
        let plot = Plot(
            left: Self.margin, top: Self.margin, right: Self.width - Self.margin - (numbers?.width ?? 0),
            bottom: height - Self.margin - (hasLabels ? AxisLabels.height : 0), axis: axis, count: chart.points.count,
            hasSlots: chart.kind == .bar)
        numbers?.draw(into: &drawing, plot, palette)
        if hasLabels { AxisLabels(chart.labels).draw(into: &drawing, plot, palette) }
        switch chart.kind {
        case .bar: Bars(plot: plot, palette: palette).draw(points, into: &drawing)
        case .line, .area, .sparkline:
            Lines(kind: chart.kind, plot: plot, palette: palette).draw(points, into: &drawing)
        }
        self.drawing = drawing
        thumbnail = Self.thumbnail(of: plot, in: drawing)
    }

    /// A square up to the plot's right edge, if the plot is wide enough for one.
    private static func thumbnail(of plot: Plot, in drawing: Drawing) -> AttachmentThumbnail.Clip {
        let top = max(0, plot.top - 10)
        let bottom = min(drawing.height, plot.bottom + 10)
        let right = min(drawing.width, plot.right + 10)
        let side = min(bottom - top, right)
        return AttachmentThumbnail.Clip(
            x: (right - side) / drawing.width, y: top / drawing.height, width: side / drawing.width,
            height: (bottom - top) / drawing.height)
    }

    /// The width of the picture in points, which is that of a notification on most phones.
    static let width = 360.0
    private static let margin = 16.0
}

/// A line through the points, broken at gaps, with the area below it.
struct Lines {
    let kind: PushChart.Kind
    let plot: Plot
    let palette: Palette

    func draw(_ points: [Double?], into drawing: inout Drawing) {
        let runs = plot.runs(points)
        let width = points.count > Self.manyPoints ? 1.75 : 2.5
        if let fill { for run in runs where run.count > 1 { drawing.marks.append(area(below: run, fill)) } }
        for run in runs {
            if run.count > 1 {
                drawing.marks.append(.stroke(.polyline(run), palette.ink, width: width))
            } else {
                drawing.marks.append(.fill(.circle(run[0], radius: width), palette.ink))
            }
        }
        // The newest value, set off from its line.
        guard let newest = runs.last?.last else { return }
        drawing.marks.append(.fill(.circle(newest, radius: 6), palette.background))
        drawing.marks.append(.fill(.circle(newest, radius: 4), palette.ink))
    }

    /// Fills an area down or up to zero, and a sparkline, which has no zero, to the bottom.
    private var fill: (base: Double, stops: [Drawing.Stop])? {
        let strong = palette.ink.opacity(0.42)
        switch kind {
        case .line, .bar: return nil
        case .area:
            let zero = plot.y(0)
            return (
                zero,
                [
                    Drawing.Stop(y: plot.top, color: strong), Drawing.Stop(y: zero, color: palette.ink.opacity(0.06)),
                    Drawing.Stop(y: plot.bottom, color: strong),
                ]
            )
        case .sparkline:
            let bottom = plot.bottom + 8
            return (
                bottom,
                [Drawing.Stop(y: plot.top, color: strong), Drawing.Stop(y: bottom, color: palette.ink.opacity(0))]
            )
        }
    }

    private func area(below run: [Path.Point], _ fill: (base: Double, stops: [Drawing.Stop])) -> Drawing.Mark {
        let ends = [Path.Point(x: run[run.count - 1].x, y: fill.base), Path.Point(x: run[0].x, y: fill.base)]
        var path = Path.polyline(run + ends)
        path.close()
        return .gradient(path, fill.stops)
    }

    /// A line with more points is thinner, so that it still looks like a line.
    private static let manyPoints = 120
}

/// A bar for each value, upward or downward from zero.
struct Bars {
    let plot: Plot
    let palette: Palette

    func draw(_ points: [Double?], into drawing: inout Drawing) {
        let width = min(Self.maximumWidth, plot.slotWidth * (plot.slotWidth > 3 ? 0.68 : 1))
        let zero = plot.y(0)
        for (index, value) in points.enumerated() {
            guard let value else { continue }
            // Zero is a thin line, not a gap.
            let height = max(1, abs(plot.y(value) - zero))
            let radius = min(4, width / 2, height)
            let (left, right) = (plot.x(index) - width / 2, plot.x(index) + width / 2)
            let isBelow = value < 0
            let path = Path.rectangle(
                left: left, top: isBelow ? zero : zero - height, right: right, bottom: isBelow ? zero + height : zero,
                topRadius: isBelow ? 0 : radius, bottomRadius: isBelow ? radius : 0)
            drawing.marks.append(.fill(path, palette.ink))
        }
    }

    private static let maximumWidth = 44.0
}
