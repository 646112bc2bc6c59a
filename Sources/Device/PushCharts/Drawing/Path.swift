struct Path: Sendable {
    private(set) var elements: [Element] = []

    enum Element: Sendable {
        case move(Point)
        case line(Point)
        case curve(Point, control1: Point, control2: Point)
        case close
    }

    struct Point: Hashable, Sendable {
        var x: Double
        var y: Double
    }

    mutating func move(to point: Point) { elements.append(.move(point)) }
    mutating func line(to point: Point) { elements.append(.line(point)) }
    mutating func curve(to point: Point, _ control1: Point, _ control2: Point) {
        elements.append(.curve(point, control1: control1, control2: control2))
    }
    mutating func close() { elements.append(.close) }

    static func polyline(_ points: [Point]) -> Path {
        var path = Path()
        for (index, point) in points.enumerated() {
            if index == 0 { path.move(to: point) } else { path.line(to: point) }
        }
        return path
    }

    static func circle(_ center: Point, radius: Double) -> Path {
        rectangle(
            left: center.x - radius, top: center.y - radius, right: center.x + radius, bottom: center.y + radius,
            topRadius: radius, bottomRadius: radius)
    }

    /// A rectangle, clockwise, with round corners at the top, the bottom, or both.
    static func rectangle(
        left: Double, top: Double, right: Double, bottom: Double, topRadius: Double = 0, bottomRadius: Double = 0
    ) -> Path {
        var path = Path()
        path.move(to: Point(x: left + topRadius, y: top))
        path.line(to: Point(x: right - topRadius, y: top))
        path.corner(Point(x: right, y: top), to: Point(x: right, y: top + topRadius))
        path.line(to: Point(x: right, y: bottom - bottomRadius))
        path.corner(Point(x: right, y: bottom), to: Point(x: right - bottomRadius, y: bottom))
        path.line(to: Point(x: left + bottomRadius, y: bottom))
        path.corner(Point(x: left, y: bottom), to: Point(x: left, y: bottom - bottomRadius))
        path.line(to: Point(x: left, y: top + topRadius))
        path.corner(Point(x: left, y: top), to: Point(x: left + topRadius, y: top))
        path.close()
        return path
    }

    /// Adds an approximate quarter circle, from the last point around `corner`.
    private mutating func corner(_ corner: Point, to end: Point) {
        guard let start = last, start != end else { return }
        // The distance of a Bézier curve's control points from the ends of a quarter circle, as a fraction of its radius.
        let part = 0.5522847498
        curve(
            to: end, Point(x: start.x + (corner.x - start.x) * part, y: start.y + (corner.y - start.y) * part),
            Point(x: end.x + (corner.x - end.x) * part, y: end.y + (corner.y - end.y) * part))
    }

    private var last: Point? {
        switch elements.last {
        case .move(let point), .line(let point), .curve(let point, _, _): point
        case .close, nil: nil
        }
    }
}
