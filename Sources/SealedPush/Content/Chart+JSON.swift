internal import _PushBase

extension Chart {
    /// Nil where it breaks a rule of Specification 15.1. Members with other names are ignored.
    package init?(_ value: JSONValue) {
        guard case .object(let members) = value,
            let kind = members["kind"]?.string.flatMap(Kind.init(rawValue:)),
            let points = members["points"].flatMap(Self.points),
            let labels = Self.labels(members["labels"]),
            let prefix = Self.text(members["prefix"], maximumByteCount: Self.maximumAffixByteCount),
            let suffix = Self.text(members["suffix"], maximumByteCount: Self.maximumAffixByteCount),
            let color = Self.color(members["color"])
        else { return nil }
        var hasAxes = true
        if let axes = members["axes"] {
            guard case .bool(let value) = axes else { return nil }
            hasAxes = value
        }
        self.init(
            kind, points: points, labels: labels, prefix: prefix, suffix: suffix, color: color, hasAxes: hasAxes)
    }

    /// Shortest: what has its usual value is left out.
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

    private static func labels(_ value: JSONValue?) -> [String]? {
        guard let value else { return [] }
        guard case .array(let values) = value, values.count <= maximumLabelCount else { return nil }
        var labels: [String] = []
        for value in values {
            guard let label = text(value, maximumByteCount: maximumLabelByteCount) else { return nil }
            labels.append(label)
        }
        return labels
    }

    /// Empty where there is none.
    private static func text(_ value: JSONValue?, maximumByteCount: Int) -> String? {
        guard let value else { return "" }
        guard let text = value.string, text.utf8.count <= maximumByteCount else { return nil }
        return text
    }

    private static func color(_ value: JSONValue?) -> Color? {
        guard let value else { return .accent }
        guard let text = value.string else { return nil }
        if text == "accent" { return .accent }
        if text == "trend" { return .trend }
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"),
            let bytes = Hex.decode(text.dropFirst()), bytes.count == 3
        else { return nil }
        return .rgb(RGB(red: bytes[0], green: bytes[1], blue: bytes[2]))
    }
}
