internal import PushCore

/// The vertical axis: which value lies how high, and where the numbers stand.
///
/// Takes any finite numbers: what is beyond 10^100 counts as that, and what is nearer to zero than 10^-100 as zero.
struct ValueAxis: Sendable {
    let lower: Double
    let upper: Double
    /// The values that get a line and a number, in ascending order; at most seven.
    let ticks: [Double]
    private let step: Double

    /// - Parameters:
    ///   - values: at least one.
    ///   - includesZero: whether zero lies on the axis in any case.
    ///   - isTight: whether the axis ends at the lowest and highest value, without ticks.
    init(_ values: [Double], includesZero: Bool, isTight: Bool) {
        let values = values.map(Self.bounded) + (includesZero ? [0] : [])
        var low = values.min() ?? 0
        var high = values.max() ?? 0
        let greatest = max(abs(low), abs(high))
        if high - low <= greatest * 1e-9 {
            // All are equal, as far as anybody can see: they lie in the middle.
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

    /// 0 at the bottom of the axis, 1 at its top.
    func height(of value: Double) -> Double {
        min(1, max(0, (Self.bounded(value) - lower) / (upper - lower)))
    }

    /// A tick's number, as short as the others'.
    func text(of tick: Double, decimalSeparator: String) -> String {
        let greatest = max(abs(lower), abs(upper))
        guard greatest < 1e15, greatest >= 1e-4 else { return exponential(tick, decimalSeparator) }
        let letter = Self.letters.first { greatest >= $0.from && step >= $0.unit / 100 }
        let unit = letter?.unit ?? 1
        let text = Self.fixed(tick / unit, step: step / unit, decimalSeparator)
        return text == "0" ? text : text + (letter?.letter ?? "")
    }

    /// 1, 2, 2.5 or 5 times a power of ten: the smallest that is not below `rough`.
    private static func roundStep(_ rough: Double) -> Double {
        let power = pow(10, log10(rough).rounded(.down))
        let part = rough / power
        return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 2.5 ? 2.5 : part <= 5 ? 5 : 10) * power
    }

    private static func bounded(_ value: Double) -> Double {
        abs(value) < 1e-100 ? 0 : min(1e100, max(-1e100, value))
    }

    /// With as many decimal places as the step has.
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

    /// From which greatest value on numbers are counted in which unit. SI's letters up to M, then money's.
    private static let letters: [(from: Double, unit: Double, letter: String)] = [
        (1e12, 1e12, "T"), (1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e4, 1e3, "k"),
    ]
    /// How much of a step may be lost to rounding.
    private static let slack = 1e-6
}
