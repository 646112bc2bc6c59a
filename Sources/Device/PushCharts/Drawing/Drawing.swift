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
