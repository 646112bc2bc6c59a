internal import PushCore

/// A chart that the device draws from sealed points. Source: ContentParts 15.
///
/// The device shows it only if its app has opted in, so the notification's text must make sense without it.
public struct PushChart: Hashable, Sendable {
    /// How the points are drawn.
    public var kind: Kind
    /// The values, evenly spaced, oldest first; nil is a gap. At most 1,024, at least one of which isn't nil. Differences
    /// smaller than a billionth of the greatest value aren't drawn.
    public var points: [Double?]
    /// The labels below the points: evenly spread, the first below the first point and the last below the last. At most 16,
    /// each with at most 48 bytes. Labels that would overlap are omitted.
    public var labels: [String]
    /// The text before each number on the axis, such as `$`; at most 16 bytes.
    public var prefix: String
    /// The text after each number on the axis, such as `%` or ` km`; at most 16 bytes.
    public var suffix: String
    /// The color of lines and bars.
    public var color: Color
    /// Whether numbers, grid lines, and labels are drawn. A sparkline never has them.
    public var hasAxes: Bool

    /// Creates a chart; sealing checks the limits.
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

    /// The forms of a chart.
    public enum Kind: String, Sendable, CaseIterable {
        /// A line whose axis need not begin at zero.
        case line
        /// A line, and the area between it and zero.
        case area
        /// Bars from zero, up or down.
        case bar
        /// A line without axes, half as high.
        case sparkline
    }

    /// The choices for a chart's color.
    public enum Color: Hashable, Sendable {
        /// The color that the app chose.
        case accent
        /// The app's color for rising if the last value is above the first, or for falling if it is below.
        case trend
        /// The same color in light and dark mode.
        case rgb(RGB)
    }

    /// A color in sRGB.
    public struct RGB: Hashable, Sendable {
        /// The red component.
        public var red: UInt8
        /// The green component.
        public var green: UInt8
        /// The blue component.
        public var blue: UInt8

        /// Creates a color from its components.
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

extension PushChart {
    /// Reads the form in ContentParts 15.1. Members with other names are ignored.
    package init(_ value: JSONValue, at path: String = "chart") throws(ContentError) {
        var chart = try MemberReader(value, at: path)
        self.init(
            try chart.required("kind") { $0.string.flatMap(Kind.init(untrusted:)) },
            points: try chart.required("points", Self.points), labels: try chart.optional("labels", Self.labels) ?? [],
            prefix: try chart.optional("prefix") { Self.text($0, maximumByteCount: Self.maximumAffixByteCount) } ?? "",
            suffix: try chart.optional("suffix") { Self.text($0, maximumByteCount: Self.maximumAffixByteCount) } ?? "",
            color: try chart.optional("color") { $0.string.flatMap(Self.color) } ?? .accent,
            hasAxes: try chart.optional("axes", \.bool) ?? true)
    }

    /// The shortest JSON, which omits default values.
    package var json: JSONValue {
        var members: [String: JSONValue] = ["kind": .string(kind.rawValue)]
        members["points"] = .array(
            points.map { point in
                guard let point else { return .null }
                return Int64(exactly: point).map(JSONValue.integer) ?? .number(point)
            })
        if !labels.isEmpty { members["labels"] = .array(labels.map(JSONValue.string)) }
        if !prefix.isEmpty { members["prefix"] = .string(prefix) }
        if !suffix.isEmpty { members["suffix"] = .string(suffix) }
        if !hasAxes { members["axes"] = false }
        switch color {
        case .accent: break
        case .trend: members["color"] = "trend"
        case .rgb(let rgb): members["color"] = .string("#" + Hex.encode([rgb.red, rgb.green, rgb.blue]))
        }
        return .object(members)
    }

    private static func points(_ value: JSONValue) -> [Double?]? {
        guard case .array(let values) = value, values.count <= maximumPointCount else { return nil }
        var points: [Double?] = []
        points.reserveCapacity(values.count)
        for value in values {
            guard value != .null else {
                points.append(nil)
                continue
            }
            guard let number = value.double, number.isFinite else { return nil }
            points.append(number)
        }
        return points.contains { $0 != nil } ? points : nil
    }

    private static func labels(_ value: JSONValue) -> [String]? {
        guard case .array(let values) = value, values.count <= maximumLabelCount else { return nil }
        let labels = values.compactMap { text($0, maximumByteCount: maximumLabelByteCount) }
        return labels.count == values.count ? labels : nil
    }

    private static func text(_ value: JSONValue, maximumByteCount: Int) -> String? {
        value.string.flatMap { $0.utf8.count <= maximumByteCount ? $0 : nil }
    }

    private static func color(_ text: String) -> Color? {
        if text.hasBytes(of: "accent") { return .accent }
        if text.hasBytes(of: "trend") { return .trend }
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"),
            let bytes = Hex.decode(text.dropFirst()), bytes.count == 3
        else { return nil }
        return .rgb(RGB(red: bytes[0], green: bytes[1], blue: bytes[2]))
    }
}
