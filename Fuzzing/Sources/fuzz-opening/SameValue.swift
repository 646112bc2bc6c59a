import PushSender

extension JSONValue {
    /// Whether this is the other after it was written and read: numbers by their value, as 1.0 comes back as 1.
    func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer(let first), .integer(let second)): first == second
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Int64(exactly: number) == integer
        case (.number(let first), .number(let second)): first == second
        case (.array(let first), .array(let second)):
            first.count == second.count && zip(first, second).allSatisfy { $0.isSame(as: $1) }
        case (.object(let first), .object(let second)): first.isSame(as: second)
        default: self == other
        }
    }
}

extension [String: JSONValue] {
    func isSame(as other: Self) -> Bool {
        count == other.count && allSatisfy { name, value in other[name].map(value.isSame) ?? false }
    }
}
