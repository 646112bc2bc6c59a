/// A picture as a list of fills, strokes, and labels, in drawing order, in points from the top left.
/// Platform-neutral. A backend handles only these few operations, and needs no knowledge of charts.
struct Drawing: Sendable {
    let width: Double
    let height: Double
    let background: Color
    var marks: [Mark] = []

    enum Mark: Sendable {
        case fill(Path, Color)
        /// Filled from top to bottom, with at least two stops in ascending order.
        case gradient(Path, [Stop])
        case stroke(Path, Color, width: Double)
        case text(Label)
    }

    /// A color of a gradient, and its height in the picture.
    struct Stop: Sendable {
        let y: Double
        let color: Color
    }

    /// One line of text in the system's own font.
    struct Label: Sendable {
        let text: String
        let color: Color
        /// The left end of the text, or its middle.
        let x: Double
        /// The y-coordinate of its baseline.
        let baseline: Double
        var isCentered = false

        /// Returns the left end of a text of this width.
        func left(width: Double) -> Double { isCentered ? x - width / 2 : x }

        /// The size of all text, in points.
        static let size = 11.0
    }

    /// A color in sRGB, with components from 0 to 1; alpha isn't premultiplied.
    struct Color: Hashable, Sendable {
        var red: Double
        var green: Double
        var blue: Double
        var alpha = 1.0
    }
}

extension Drawing.Color {
    /// 0xRRGGBB.
    init(_ rgb: UInt32) {
        red = Double(rgb >> 16 & 0xff) / 255
        green = Double(rgb >> 8 & 0xff) / 255
        blue = Double(rgb & 0xff) / 255
    }

    func opacity(_ alpha: Double) -> Drawing.Color {
        var color = self
        color.alpha = alpha
        return color
    }
}

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
