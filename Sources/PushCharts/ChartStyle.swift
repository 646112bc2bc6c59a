public import SealedPush

/// How an app wants its charts to look.
public struct ChartStyle: Hashable, Sendable {
    public var appearance: Appearance
    public var scale: Scale
    /// The color of a chart that asks for no other; blue where nil.
    public var accent: Chart.RGB?
    /// The color of a trend upwards; green where nil. Some countries read red as rising.
    public var rising: Chart.RGB?
    /// The color of a trend downwards; red where nil.
    public var falling: Chart.RGB?

    public init(
        appearance: Appearance = .dark, scale: Scale = .three, accent: Chart.RGB? = nil, rising: Chart.RGB? = nil,
        falling: Chart.RGB? = nil
    ) {
        self.appearance = appearance
        self.scale = scale
        self.accent = accent
        self.rising = rising
        self.falling = falling
    }

    /// An extension can't find out which of the two the lock screen has, nor would a finished picture change with it.
    ///
    /// Dark is the usual: a dark card reads well on both and glares on neither. An app that wants to follow the system
    /// writes its appearance into the shared container whenever it runs, and reads it in its configuration.
    public enum Appearance: Sendable { case light, dark }

    /// Pixels to a point, as the device's screen has them.
    public enum Scale: Int, Sendable {
        case two = 2
        case three = 3
    }
}
