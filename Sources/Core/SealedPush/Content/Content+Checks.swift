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
        case .critical(let name, let volume)? where name.isEmpty || !(0...1).contains(volume): throw .invalid("sound")
        case .named?, .critical?, nil: break
        }
        if let data, data == .null || !data.isSealable(depth: 2) { throw .unusable(data, at: "data") }
        for (name, value) in other
        where name.utf8.count > JSONReader.maximumNameByteCount || Self.knownKeys.contains(name)
            || !value.isSealable(depth: 2)
        {
            throw .invalid(name)
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

    package static let momentRule = "whole seconds since 1970, not a lifetime"

    static let knownKeys: Set<String> = [
        "id", "topic", "sent", "expires", "collapse-id", "alert", "badge", "badge-add", "sound", "thread-id",
        "category", "interruption-level", "relevance-score", "data", "attachments", "overflow", "chart", "person",
        "receipt", "template", "withdraw",
    ]
}

extension JSONValue {
    /// Whether all numbers are finite, no name is too long, and the nesting isn't too deep; `depth` is this value's own level.
    fileprivate func isSealable(depth: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .string: true
        case .number(let value): value.isFinite
        case .array(let values):
            depth <= JSONReader.maximumDepth && values.allSatisfy { $0.isSealable(depth: depth + 1) }
        case .object(let members):
            depth <= JSONReader.maximumDepth
                && members.allSatisfy {
                    $0.key.utf8.count <= JSONReader.maximumNameByteCount && $0.value.isSealable(depth: depth + 1)
                }
        }
    }
}
