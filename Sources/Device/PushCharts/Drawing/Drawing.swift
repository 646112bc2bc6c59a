/// A picture before it is one: what to fill, stroke and write, in order, in points, from the top left.
///
/// Platform neutral. A backend knows these few things and nothing of charts.
struct Drawing: Sendable {
    let width: Double
    let height: Double
    let background: Color
    var marks: [Mark] = []

    enum Mark: Sendable {
        case fill(Path, Paint)
        case stroke(Path, Color, width: Double)
        case text(Label)
    }

    /// What a path is filled with.
    enum Paint: Sendable {
        case color(Color)
        /// From top to bottom: at least two stops, in ascending order.
        case gradient([Stop])
    }

    /// A color of a gradient, and at which height of the picture it stands.
    struct Stop: Sendable {
        let y: Double
        let color: Color
    }

    /// One line of text in the system's own font.
    struct Label: Sendable {
        let text: String
        let size: Double
        let color: Color
        /// Where the text begins, ends, or has its middle.
        let x: Double
        /// Where its letters stand.
        let baseline: Double
        let anchor: Anchor
    }

    enum Anchor: Sendable { case start, middle, end }

    /// In sRGB, each from 0 to 1; the alpha is not multiplied into the others.
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
