import FuzzSupport

@testable import PushCharts
@testable import SealedPush

func checkLayout(of chart: Chart, _ style: ChartStyle) {
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
        case .fill(let path, let paint):
            check(path, in: drawing)
            if case .gradient(let stops) = paint {
                demand(stops.count >= 2 && zip(stops, stops.dropFirst()).allSatisfy { $0.y <= $1.y }, "\(stops)")
            }
        case .stroke(let path, _, let width):
            check(path, in: drawing)
            demand(width.isFinite && width > 0, "a line of the width \(width)")
        case .text(let label):
            demand(label.size.isFinite, "letters of the size \(label.size)")
            check(Path.Point(x: label.x, y: label.baseline), in: drawing)
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
