import SealedPush

/// A chart, laid out.
struct ChartDrawing {
    let drawing: Drawing
    /// The part of the picture that says most when it is small: where the newest points are.
    let thumbnail: AttachmentThumbnail.Clip

    /// Nil where the chart has no value. Takes any other, whatever its points, and time in proportion to them; a point that
    /// is no finite number is a gap.
    init?(_ chart: PushChart, style: ChartStyle, decimalSeparator: String = ".") {
        let points = chart.points.map { $0?.isFinite == true ? $0 : nil }
        let values = points.compactMap(\.self)
        guard !values.isEmpty, values.count <= PushChart.maximumPointCount else { return nil }
        let palette = Palette(chart, values, style: style)
        let isSparkline = chart.kind == .sparkline
        let hasAxes = chart.hasAxes && !isSparkline
        let height = isSparkline ? Self.width / 4 : Self.width / 2
        var drawing = Drawing(width: Self.width, height: height, background: palette.background)
        let axis = ValueAxis(values, includesZero: chart.kind == .bar || chart.kind == .area, isTight: !hasAxes)
        let numbers = hasAxes ? AxisNumbers(axis, chart, decimalSeparator: decimalSeparator) : nil
        let hasLabels = hasAxes && !chart.labels.isEmpty
        let plot = Plot(
            left: Self.margin, top: Self.margin, right: Self.width - Self.margin - (numbers?.width ?? 0),
            bottom: height - Self.margin - (hasLabels ? AxisLabels.height : 0), axis: axis, count: chart.points.count,
            hasSlots: chart.kind == .bar)
        numbers?.draw(into: &drawing, plot, palette)
        if hasLabels { AxisLabels(chart.labels).draw(into: &drawing, plot, palette) }
        switch chart.kind {
        case .bar: Bars(plot, palette).draw(points, into: &drawing)
        case .line, .area, .sparkline: Lines(chart.kind, plot, palette).draw(points, into: &drawing)
        }
        self.drawing = drawing
        thumbnail = Self.thumbnail(of: plot, in: drawing)
    }

    /// A square, where the plot is wide enough for one, up to the plot's right edge.
    private static func thumbnail(of plot: Plot, in drawing: Drawing) -> AttachmentThumbnail.Clip {
        let top = max(0, plot.top - 10)
        let bottom = min(drawing.height, plot.bottom + 10)
        let right = min(drawing.width, plot.right + 10)
        let side = min(bottom - top, right)
        return AttachmentThumbnail.Clip(
            x: (right - side) / drawing.width, y: top / drawing.height, width: side / drawing.width,
            height: (bottom - top) / drawing.height)
    }

    /// Of the picture, in points: as wide as a notification on most phones.
    static let width = 360.0
    private static let margin = 16.0
}
