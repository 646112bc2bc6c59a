internal import PushOutbox
internal import SealedPush

/// Reads the members of a request's JSON object one by one. A member that no caller has read is an error, because it may be
/// misspelled. A null member counts as absent.
struct MemberReader {
    private var rest: JSONMembers

    init(_ members: consuming JSONMembers) { rest = members }

    mutating func optional<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(Problem) -> Value? {
        guard let member = rest.take(name)?.json, member != .null else { return nil }
        guard let value = read(member) else { throw .malformed("\"\(name)\" is invalid; expected \(rule())") }
        return value
    }

    mutating func required<Value>(
        _ name: String, _ rule: @autoclosure () -> String, _ read: (JSONValue) -> Value?
    ) throws(Problem) -> Value {
        guard let value = try optional(name, rule(), read)
        else { throw .malformed("there is no \"\(name)\"; expected \(rule())") }
        return value
    }

    mutating func text(_ name: String) throws(Problem) -> String { try required(name, "a string", \.string) }

    mutating func flag(_ name: String) throws(Problem) -> Bool { try optional(name, "true or false", \.bool) ?? false }

    mutating func user() throws(Problem) -> UserName? {
        try optional("user", "1 to 128 bytes of visible text") { $0.string.flatMap(UserName.init(parsing:)) }
    }

    mutating func device() throws(Problem) -> DeviceName? {
        try optional("device", "the name of a device") { $0.string.flatMap(DeviceName.init(parsing:)) }
    }

    /// Returns the members of an object, which are still to be read, or `nil` if it's absent.
    mutating func members(_ name: String, _ rule: String) throws(Problem) -> JSONMembers? {
        guard let member = rest.take(name) else { return nil }
        if let members = member.members { return members }
        guard member.json == .null else { throw .malformed("\"\(name)\" is invalid; expected \(rule)") }
        return nil
    }

    /// The remaining members aren't quoted, because they could contain anything.
    func end(_ known: String) throws(Problem) {
        guard !rest.isEmpty else { return }
        throw .malformed("the request has an unknown member; the known ones are \(known)")
    }
}
