import FuzzSupport

@testable import PushCharts
@testable import SealedPush

/// Charts: an accepted chart keeps the limits of ContentParts 15, and is the same after writing and reading. Any chart is
/// laid out within its picture, in finite numbers, and drawn.
///
/// The input's first byte selects whether the rest is content or a chart's values (bit 0), and whether the chart is drawn,
/// which is slow (bits 1 to 4: one in 16).
func fuzzChart(_ input: inout Input) {
    let choice = input.byte()
    let chart = choice & 1 == 0 ? read(input.bytes) : made(&input)
    guard let chart else { return }
    var style = ChartStyle(appearance: choice & 0x20 == 0 ? .dark : .light, scale: .two)
    if choice & 0x40 != 0 { style.accent = PushChart.RGB(red: choice, green: 0, blue: 255) }
    checkLayout(of: chart, style)
    guard choice & 0x1e == 0x1e else { return }
    do {
        let picture = try ChartPicture(chart, style: style)
        demand(picture.png.starts(with: [0x89, 0x50, 0x4e, 0x47]), "the picture is not a PNG")
    } catch { demand(error as? ChartError == .nothingToDraw, "a chart can't be drawn: \(error)") }
}

private func read(_ bytes: [UInt8]) -> PushChart? {
    guard let members = JSONReader.object(bytes, maximumByteCount: 4_096), let chart = try? PushChart(.object(members))
    else { return nil }
    demand((1...1_024).contains(chart.points.count) && chart.labels.count <= 16, "\(chart.points.count) points")
    demand(chart.points.allSatisfy { $0?.isFinite ?? true }, "points are infinite")
    demand(chart.points.contains { $0 != nil }, "there are no points")
    demand(chart.labels.allSatisfy { $0.utf8.count <= 48 }, "a label is too long")
    demand(max(chart.prefix.utf8.count, chart.suffix.utf8.count) <= 16, "a prefix or suffix is too long")
    demand((try? PushChart(chart.json)) == chart, "the chart changes when written and read again")
    return chart
}

/// Creates a chart as an app could, within limits or not.
private func made(_ input: inout Input) -> PushChart {
    let kind = PushChart.Kind.allCases[Int(input.byte()) % PushChart.Kind.allCases.count]
    var chart = PushChart(kind, points: [], prefix: input.text(), suffix: input.text(), hasAxes: input.bool())
    chart.labels = (0..<input.byte() % 18).map { _ in input.text() }
    let isSmall = input.bool()
    let repeats = input.number(below: 40) + 1
    while !input.rest.isEmpty, chart.points.count < 1_100 {
        let value = isSmall ? Double(input.byte()) - 100 : Double(bitPattern: input.word())
        chart.points += repeatElement(input.byte() == 7 ? nil : value, count: repeats)
    }
    if input.bool() { chart.color = .trend }
    return chart
}

func checkLayout(of chart: PushChart, _ style: ChartStyle) {
    let values = chart.points.compactMap(\.self).filter(\.isFinite)
    guard let layout = ChartDrawing(chart, style: style) else {
        demand(values.isEmpty || values.count > 1_024, "a chart of \(values.count) values is not laid out")
        return
    }
    let (drawing, clip) = (layout.drawing, layout.thumbnail)
    let edges = [clip.x, clip.y, clip.width, clip.height, clip.x + clip.width, clip.y + clip.height]
    demand(edges.allSatisfy { (0...1.000_001).contains($0) }, "the thumbnail is \(clip)")
    demand(drawing.marks.count <= 4 * chart.points.count + 64, "\(drawing.marks.count) marks")
    for mark in drawing.marks {
        switch mark {
        case .fill(let path, _): check(path, in: drawing)
        case .gradient(let path, let stops):
            check(path, in: drawing)
            demand(stops.count >= 2 && zip(stops, stops.dropFirst()).allSatisfy { $0.y <= $1.y }, "\(stops)")
        case .stroke(let path, _, let width):
            check(path, in: drawing)
            demand(width.isFinite && width > 0, "a line has the width \(width)")
        case .text(let label): check(Path.Point(x: label.x, y: label.baseline), in: drawing)
        }
    }
}

private func check(_ path: Path, in drawing: Drawing) {
    for element in path.elements {
        switch element {
        case .move(let point), .line(let point): check(point, in: drawing)
        case .curve(let point, let first, let second):
            for point in [point, first, second] { check(point, in: drawing) }
        case .close: break
        }
    }
}

private func check(_ point: Path.Point, in drawing: Drawing) {
    demand(
        (-1...drawing.width + 1).contains(point.x) && (-1...drawing.height + 1).contains(point.y),
        "\(point) lies outside")
}
