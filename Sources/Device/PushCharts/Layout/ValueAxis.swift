import SealedPush

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The vertical axis: the height of each value, and the positions of the numbers. Accepts any finite numbers. Those
/// beyond 10^100 count as 10^100, and those nearer to zero than 10^-100 as zero.
struct ValueAxis: Sendable {
    let lower: Double
    let upper: Double
    /// The values that have a line and a number, in ascending order; at most seven.
    let ticks: [Double]
    private let step: Double

    /// Covers one value or more, and zero if `includesZero`. If `isTight`, ends at the lowest and highest, without ticks.
    init(_ values: [Double], includesZero: Bool, isTight: Bool) {
        let values = values.map(Self.bounded) + (includesZero ? [0] : [])
        var low = values.min() ?? 0
        var high = values.max() ?? 0
        let greatest = max(abs(low), abs(high))
        if high - low <= greatest * 1e-9 {
            // All values look the same, so they are drawn in the middle.
            let reach = greatest == 0 ? 1 : greatest / 4
            (low, high) = (low - reach, high + reach)
        }
        guard !isTight else {
            (lower, upper, step, ticks) = (low, high, high - low, [])
            return
        }
        let step = Self.roundStep((high - low) / 4)
        let first = (low / step + Self.slack).rounded(.down)
        let last = (high / step - Self.slack).rounded(.up)
        self.step = step
        ticks = (0...Int(min(8, last - first))).map { (first + Double($0)) * step }
        lower = min(low, first * step)
        upper = max(high, last * step)
    }

    /// Returns the height of a value: 0 at the bottom of the axis, 1 at its top.
    func height(of value: Double) -> Double { min(1, max(0, (Self.bounded(value) - lower) / (upper - lower))) }

    /// Returns a tick's number, as short as those of the other ticks.
    func text(of tick: Double, decimalSeparator: String) -> String {
        let greatest = max(abs(lower), abs(upper))
        guard greatest < 1e15, greatest >= 1e-4 else { return exponential(tick, decimalSeparator) }
        let letter = Self.letters.first { greatest >= $0.from && step >= $0.unit / 100 }
        let unit = letter?.unit ?? 1
        let text = Self.fixed(tick / unit, step: step / unit, decimalSeparator)
        return text == "0" ? text : text + (letter?.letter ?? "")
    }

    /// Returns 1, 2, 2.5, or 5 times a power of ten: the smallest that isn't below `rough`.
    private static func roundStep(_ rough: Double) -> Double {
        let power = pow(10, log10(rough).rounded(.down))
        let part = rough / power
        return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 2.5 ? 2.5 : part <= 5 ? 5 : 10) * power
    }

    private static func bounded(_ value: Double) -> Double { abs(value) < 1e-100 ? 0 : min(1e100, max(-1e100, value)) }

    /// Returns a number with as many decimal places as the step has.
    private static func fixed(_ value: Double, step: Double, _ decimalSeparator: String) -> String {
        var places = 0
        var scale = 1.0
        while places < 15, abs(step * scale - (step * scale).rounded()) > 1e-6 * step * scale {
            places += 1
            scale *= 10
        }
        let whole = (abs(value) * scale).rounded()
        guard whole > 0, whole < 1e18 else { return "0" }
        var digits = String(Int64(whole))
        if places > 0 {
            digits = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
            digits.insert(contentsOf: decimalSeparator, at: digits.index(digits.endIndex, offsetBy: -places))
        }
        return (value < 0 ? "\u{2212}" : "") + digits
    }

    private func exponential(_ value: Double, _ decimalSeparator: String) -> String {
        guard abs(value) > step / 2 else { return "0" }
        var exponent = log10(abs(value)).rounded(.down)
        if abs(value) / pow(10, exponent) >= 10 - Self.slack { exponent += 1 }
        let unit = pow(10, exponent)
        return Self.fixed(value / unit, step: step / unit, decimalSeparator) + "e\(Int(exponent))"
    }

    /// The units of numbers, and the greatest value from which each is used: SI's letters up to M, then money's.
    private static let letters: [(from: Double, unit: Double, letter: String)] = [
        (1e12, 1e12, "T"), (1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e4, 1e3, "k"),
    ]
    /// The fraction of a step that may be lost to rounding.
    private static let slack = 1e-6
}

/// The numbers on the right, and their lines.
struct AxisNumbers {
    private let ticks: [(value: Double, text: String)]
    /// The width that the numbers take, in points.
    let width: Double

    init(_ axis: ValueAxis, _ chart: PushChart, decimalSeparator: String) {
        let (prefix, suffix) = (TextMeasure.printable(chart.prefix), TextMeasure.printable(chart.suffix))
        ticks = axis.ticks.map { tick in
            var number = axis.text(of: tick, decimalSeparator: decimalSeparator)
            // A sign precedes the currency.
            let sign = number.first == "\u{2212}" && !prefix.isEmpty ? String(number.removeFirst()) : ""
            let text = sign + prefix + number + suffix
            return (tick, TextMeasure.shortened(text, to: Self.maximumWidth - Self.distance))
        }
        let widest = ticks.map { TextMeasure.width($0.text) }.max() ?? 0
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
                        text: text, color: palette.text, x: plot.right + Self.distance,
                        baseline: y + Drawing.Label.size * 0.36)))
        }
    }

    private static let distance = 8.0
    /// Limited, so that a long unit or number leaves enough room for the plot.
    private static let maximumWidth = 140.0
}

/// The labels below the plot.
struct AxisLabels {
    private let labels: [String]

    init(_ labels: [String]) { self.labels = labels.map(TextMeasure.printable) }

    func draw(into drawing: inout Drawing, _ plot: Plot, _ palette: Palette) {
        let placed = labels.enumerated().map { place($0.offset, $0.element, in: plot, of: drawing) }
        // Show every label, or every second, or every third, and so on: as many as fit without touching.
        for every in 1...max(1, placed.count) {
            let shown = stride(from: 0, to: placed.count, by: every).map { placed[$0] }
            let isClear = zip(shown, shown.dropFirst()).allSatisfy { $0.end + Self.distance <= $1.start }
            guard isClear || every == placed.count else { continue }
            for label in shown where !label.text.allSatisfy({ $0 == " " }) {
                drawing.marks.append(
                    .text(
                        Drawing.Label(
                            text: label.text, color: palette.text, x: (label.start + label.end) / 2,
                            baseline: plot.bottom + Self.height - 2, isCentered: true)))
            }
            return
        }
    }

    /// Spreads the labels evenly from the first point to the last, but within the picture.
    private func place(
        _ index: Int, _ text: String, in plot: Plot, of drawing: Drawing
    ) -> (text: String, start: Double, end: Double) {
        let part = labels.count > 1 ? Double(index) / Double(labels.count - 1) : 0
        let middle = plot.x(0) + part * (plot.x(plot.count - 1) - plot.x(0))
        let right = drawing.width - Self.edge
        let text = TextMeasure.shortened(text, to: right - plot.left)
        let width = TextMeasure.width(text)
        let start = max(plot.left, min(right - width, middle - width / 2))
        return (text, start, start + width)
    }

    /// The height that the labels take, in points.
    static let height = 20.0
    private static let distance = 6.0
    private static let edge = 6.0
}

/// The positions of values in the picture: the area inside the margins, in both directions.
struct Plot {
    let left: Double
    let top: Double
    let right: Double
    let bottom: Double
    let axis: ValueAxis
    let count: Int
    /// Whether each point has a slot in the width, as bars do; otherwise, the first and last are at the edges.
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

    /// Returns the points between gaps.
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

/// Estimates the width of text without a backend, so that a chart has the same layout everywhere.
enum TextMeasure {
    /// Returns the width in points, which may be too wide but rarely too narrow.
    static func width(_ text: String) -> Double { Drawing.Label.size * text.unicodeScalars.reduce(0) { $0 + ems($1) } }

    /// Returns the text, or as much of its beginning as fits into `width` points with an ellipsis.
    static func shortened(_ text: String, to width: Double) -> String {
        guard Self.width(text) > width else { return text }
        var room = width - Self.width(ellipsis)
        let kept = text.prefix { character in
            room -= Self.width(String(character))
            return room >= 0
        }
        return kept + ellipsis
    }

    /// Turns white space, invisible characters, and those that change the text's direction or position into spaces.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .unassigned, .privateUse:
                " "
            default: directional.contains(scalar.value) ? " " : scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func ems(_ scalar: Unicode.Scalar) -> Double {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar {
        case ".", ",", ":", ";", "'", "i", "j", "l", " ", "|": return 0.34
        case "m", "w", "M", "W", "%": return 0.98
        default: return scalar.value < 0x1100 ? 0.66 : scalar.value < 0x2e80 ? 0.7 : 1.1
        }
    }

    private static let ellipsis = "\u{2026}"
    private static let directional: Set<UInt32> = Set(0x202a...0x202e).union(0x2066...0x2069)
}
