public import SealedPush

/// The look of an app's charts.
public struct ChartStyle: Hashable, Sendable {
    /// Whether charts are light or dark.
    public var appearance: Appearance
    /// The number of pixels per point.
    public var scale: Scale
    /// The color of a chart that doesn't specify one; nil for blue.
    public var accent: PushChart.RGB?
    /// The color of an upward trend; nil for green. In some countries, red means rising.
    public var rising: PushChart.RGB?
    /// The color of a downward trend; nil for red.
    public var falling: PushChart.RGB?
    /// The decimal separator in the user's region.
    var decimalSeparator = "."

    /// Creates a style; see each property for its meaning.
    public init(
        appearance: Appearance = .dark, scale: Scale = .three, accent: PushChart.RGB? = nil,
        rising: PushChart.RGB? = nil, falling: PushChart.RGB? = nil
    ) {
        self.appearance = appearance
        self.scale = scale
        self.accent = accent
        self.rising = rising
        self.falling = falling
    }

    /// The appearance of charts. An extension can't query the lock screen's, and a picture wouldn't change with it.
    ///
    /// Dark is the default: a dark card is legible on both and glaring on neither. To follow the system, an app writes
    /// its appearance into the shared container whenever it runs, and reads it in its configuration.
    public enum Appearance: Sendable {
        /// A light card.
        case light
        /// A dark card.
        case dark
    }

    /// The number of pixels per point of the device's screen.
    public enum Scale: Int, Sendable {
        /// Two pixels per point.
        case two = 2
        /// Three pixels per point.
        case three = 3
    }
}

extension Drawing.Color {
    init(_ rgb: PushChart.RGB) {
        self.init(UInt32(rgb.red) << 16 | UInt32(rgb.green) << 8 | UInt32(rgb.blue))
    }
}
