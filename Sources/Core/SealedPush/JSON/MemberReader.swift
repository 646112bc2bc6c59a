/// An object's members, taken out one by one, so that what is left is what nobody knew. Errors name the member by its path.
struct MemberReader {
    private(set) var rest: JSONMembers
    private let path: String?

    init(_ members: consuming JSONMembers) {
        rest = members
        path = nil
    }

    /// - Throws: ``ContentError/invalid(_:)`` for anything but an object.
    init(_ value: JSONValue, at path: String) throws(ContentError) {
        guard case .object(let members) = value else { throw .invalid(path) }
        rest = JSONMembers(members)
        self.path = path
    }

    mutating func take(_ name: String) -> JSONValue? { rest.take(name)?.json }

    /// Nil where the member is missing; an error where `read` makes nothing of it.
    mutating func optional<Value>(
        _ name: String, _ read: (JSONValue) -> Value?
    ) throws(ContentError) -> Value? {
        guard let member = take(name) else { return nil }
        guard let value = read(member) else { throw .invalid(place(of: name)) }
        return value
    }

    mutating func required<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(ContentError) -> Value {
        guard let value = try optional(name, read) else { throw .missing(place(of: name)) }
        return value
    }

    /// The members of one that is an object.
    mutating func required<Value>(
        _ name: String, _ read: (inout JSONMembers) -> Value?
    ) throws(ContentError) -> Value {
        guard let member = rest.take(name) else { throw .missing(place(of: name)) }
        guard var members = member.members, let value = read(&members) else { throw .invalid(place(of: name)) }
        return value
    }

    func place(of name: String) -> String { path.map { "\($0).\(name)" } ?? name }
}
