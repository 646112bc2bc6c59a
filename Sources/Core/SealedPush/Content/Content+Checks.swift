internal import PushCore

extension Content {
    /// Checks that receivers will accept this content, and that JSON can represent it. Source: Specification 4.6.
    package func checkForSealing() throws(ContentError) {
        if withdrawal == nil { guard alert.isVisible else { throw .noVisibleText } } else { try checkWithdrawal() }
        if let collapseID, !Self.isCollapseID(collapseID) { throw .invalid("collapse-id") }
        if let badge, !Self.badges.contains(Int64(badge)) { throw .invalid("badge") }
        if let badgeIncrement, badge != nil || !Self.badgeIncrements.contains(Int64(badgeIncrement)) {
            throw .invalid("badge-add")
        }
        if let relevanceScore, !(0...1).contains(relevanceScore) { throw .invalid("relevance-score") }
        switch sound {
        case .named(let name)? where name.isEmpty: throw .invalid("sound")
        case .critical(let name, _)? where name.isEmpty: throw .invalid("sound.name")
        case .critical(_, let volume)? where !(0...1).contains(volume): throw .invalid("sound.volume")
        case .named?, .critical?, nil: break
        }
        if data == .null { throw .null("data") }
        if let place = data?.unsealablePlace(depth: 2) { throw .invalid("data\(place)") }
        for (name, value) in other {
            guard name.utf8.count <= JSONReader.maximumNameByteCount, !Self.knownKeys.contains(name) else {
                throw .invalid(name)
            }
            if let place = value.unsealablePlace(depth: 2) { throw .invalid("\(name)\(place)") }
        }
        if !attachments.isEmpty { _ = try Self.attachments(in: .array(attachments.map(\.json))) }
        if let overflow {
            let read = try Overflow(overflow.json, at: "overflow")
            guard read.file.isFetchable else { throw .invalid("overflow.url") }
        }
        if let chart { _ = try PushChart(chart.json, at: "chart") }
        if let person {
            let read = try Person(person.json, at: "person", isLenient: false)
            if case .attachment(let id)? = read.image,
                !attachments.contains(where: { $0.id.hasBytes(of: id) && [.png, .jpeg].contains($0.type) })
            {
                throw .invalid("person.image")
            }
        }
    }

    /// Whether the content has expired. The most common cause is a lifetime in place of a time.
    package func isExpired(at now: Timestamp) -> Bool { expires.map { $0 < now } ?? false }

    package static let momentRule = "whole seconds since 1970, not milliseconds or a lifetime"

    static let knownKeys: Set<String> = [
        "id", "topic", "sent", "expires", "collapse-id", "alert", "badge", "badge-add", "sound", "thread-id",
        "category", "interruption-level", "relevance-score", "data", "attachments", "overflow", "chart", "person",
        "receipt", "template", "withdraw",
    ]
}

extension JSONValue {
    /// Returns the place of a value that isn't a finite number, has too long a name, or is nested too deep, such as
    /// `.order.items[2]`; nil if there is none. `depth` is this value's own level.
    fileprivate func unsealablePlace(depth: Int) -> String? {
        switch self {
        case .null, .bool, .integer, .string: return nil
        case .number(let value): return value.isFinite ? nil : ""
        case .array(let values):
            guard depth <= JSONReader.maximumDepth else { return "" }
            for (index, value) in values.enumerated() {
                if let place = value.unsealablePlace(depth: depth + 1) { return "[\(index)]\(place)" }
            }
        case .object(let members):
            guard depth <= JSONReader.maximumDepth else { return "" }
            for (name, value) in members {
                guard name.utf8.count <= JSONReader.maximumNameByteCount else { return "" }
                if let place = value.unsealablePlace(depth: depth + 1) { return ".\(name)\(place)" }
            }
        }
        return nil
    }
}
