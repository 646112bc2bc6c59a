/// An object's members, taken one by one so that only unknown members remain. Errors name the member by its path.
struct MemberReader {
    private(set) var rest: JSONMembers
    private let path: String?

    init(_ members: consuming JSONMembers, at path: String? = nil) {
        rest = members
        self.path = path
    }

    /// - Throws: ``ContentError/invalid(_:)`` for anything but an object.
    init(_ value: JSONValue, at path: String) throws(ContentError) {
        guard case .object(let members) = value else { throw .unusable(value, at: path) }
        self.init(JSONMembers(members), at: path)
    }

    mutating func take(_ name: String) -> JSONValue? { rest.take(name)?.json }

    /// Returns nil if the member is missing; throws if `read` returns nil.
    mutating func optional<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(ContentError) -> Value? {
        guard let member = take(name) else { return nil }
        guard let value = read(member) else { throw .unusable(member, at: place(of: name)) }
        return value
    }

    mutating func required<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(ContentError) -> Value {
        guard let value = try optional(name, read) else { throw .missing(place(of: name)) }
        return value
    }

    mutating func object(_ name: String) throws(ContentError) -> MemberReader {
        guard let member = rest.take(name) else { throw .missing(place(of: name)) }
        guard let members = member.members else { throw .unusable(member.json, at: place(of: name)) }
        return MemberReader(members, at: place(of: name))
    }

    func place(of name: String) -> String { path.map { "\($0).\(name)" } ?? name }
}
