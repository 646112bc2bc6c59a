extension Content {
    /// Whether this can be sealed: everything a receiver checks, and what JSON can't hold. Source: Specification 4.6.
    package func checkForSealing() throws(ContentError) {
        guard alert.isVisible else { throw .noVisibleText }
        if let collapseID, !Self.isCollapseID(collapseID) { throw .invalid("collapse-id") }
        if let badge, !Self.badges.contains(Int64(badge)) { throw .invalid("badge") }
        if let relevanceScore, !(0...1).contains(relevanceScore) { throw .invalid("relevance-score") }
        switch sound {
        case .named(let name)? where name.isEmpty: throw .invalid("sound")
        case .critical(let name, let volume)? where name.isEmpty || !(0...1).contains(volume): throw .invalid("sound")
        case .named?, .critical?, nil: break
        }
        if let data, data == .null || !data.isSealable(depth: 2) { throw .invalid("data") }
        for (name, value) in other where Self.knownKeys.contains(name) || !value.isSealable(depth: 2) {
            throw .invalid(name)
        }
        try checkAttachments()
        for (name, value) in reserved where !value.isSealable(depth: 2) { throw .invalid(name) }
        try checkChartForSealing()
        if let value = reserved["template"], value != .bool(true) { throw .invalid("template") }
        if reserved["receipt"] != nil, receipt == nil { throw .invalid("receipt") }
    }

    private static let knownKeys: Set<String> = reservedKeys.union([
        "id", "topic", "sent", "expires", "collapse-id", "alert", "badge", "sound", "thread-id", "category",
        "interruption-level", "relevance-score", "data",
    ])
}

extension JSONValue {
    /// Finite numbers only, and not too deep; `depth` is the level at which this value lies.
    fileprivate func isSealable(depth: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .string: true
        case .number(let value): value.isFinite
        case .array(let values):
            depth <= JSONReader.maximumDepth && values.allSatisfy { $0.isSealable(depth: depth + 1) }
        case .object(let members):
            depth <= JSONReader.maximumDepth && members.values.allSatisfy { $0.isSealable(depth: depth + 1) }
        }
    }
}
