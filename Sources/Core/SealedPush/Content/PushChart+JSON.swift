internal import PushCore

extension PushChart {
    /// Reads what Specification 15.1 says. Members with other names are ignored.
    package init(_ value: JSONValue, at path: String = "chart") throws(ContentError) {
        var chart = try MemberReader(value, at: path)
        self.init(
            try chart.required("kind") { $0.string.flatMap(Kind.init(rawValue:)) },
            points: try chart.required("points", Self.points),
            labels: try chart.optional("labels", Self.labels) ?? [],
            prefix: try chart.optional("prefix") { Self.text($0, maximumByteCount: Self.maximumAffixByteCount) } ?? "",
            suffix: try chart.optional("suffix") { Self.text($0, maximumByteCount: Self.maximumAffixByteCount) } ?? "",
            color: try chart.optional("color") { $0.string.flatMap(Self.color) } ?? .accent,
            hasAxes: try chart.optional("axes", \.bool) ?? true)
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

    private static func labels(_ value: JSONValue) -> [String]? {
        guard case .array(let values) = value, values.count <= maximumLabelCount else { return nil }
        let labels = values.compactMap { text($0, maximumByteCount: maximumLabelByteCount) }
        return labels.count == values.count ? labels : nil
    }

    private static func text(_ value: JSONValue, maximumByteCount: Int) -> String? {
        value.string.flatMap { $0.utf8.count <= maximumByteCount ? $0 : nil }
    }

    private static func color(_ text: String) -> Color? {
        if text == "accent" { return .accent }
        if text == "trend" { return .trend }
        guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"),
            let bytes = Hex.decode(text.dropFirst()), bytes.count == 3
        else { return nil }
        return .rgb(RGB(red: bytes[0], green: bytes[1], blue: bytes[2]))
    }
}
