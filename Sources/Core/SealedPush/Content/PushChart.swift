/// A chart that the device draws from sealed points. Source: Specification 15.
///
/// The device shows it only where its app has opted in; the text of the notification must do without it.
public struct PushChart: Hashable, Sendable {
    public var kind: Kind
    /// The values, evenly spaced, oldest first; nil is a gap. At most 1,024, of which at least one is a value.
    ///
    /// Differences below a billionth of the greatest value are not drawn.
    public var points: [Double?]
    /// What stands below the points: evenly spread, the first below the first point and the last below the last. At most
    /// 16, each of at most 48 bytes. Those that would overlap are left out.
    public var labels: [String]
    /// What stands before each number on the axis, such as `$`; at most 16 bytes.
    public var prefix: String
    /// What stands after each number on the axis, such as `%` or ` km`; at most 16 bytes.
    public var suffix: String
    public var color: Color
    /// Whether numbers, grid lines and labels are drawn. A sparkline never has them.
    public var hasAxes: Bool

    public init(
        _ kind: Kind, points: [Double?], labels: [String] = [], prefix: String = "", suffix: String = "",
        color: Color = .accent, hasAxes: Bool = true
    ) {
        self.kind = kind
        self.points = points
        self.labels = labels
        self.prefix = prefix
        self.suffix = suffix
        self.color = color
        self.hasAxes = hasAxes
    }

    public enum Kind: String, Sendable, CaseIterable {
        /// Its axis need not begin at zero.
        case line
        /// A line, and the area between it and zero.
        case area
        /// From zero, up or down.
        case bar
        /// A line without axes, half as high.
        case sparkline
    }

    public enum Color: Hashable, Sendable {
        /// The one that the app has chosen.
        case accent
        /// The app's color of rising where the last value is above the first, that of falling where it is below.
        case trend
        /// The same in light and in dark.
        case rgb(RGB)
    }

    /// In sRGB.
    public struct RGB: Hashable, Sendable {
        public var red: UInt8
        public var green: UInt8
        public var blue: UInt8

        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }
    }

    package static let maximumPointCount = 1_024
    package static let maximumLabelCount = 16
    package static let maximumLabelByteCount = 48
    package static let maximumAffixByteCount = 16
}
