/// An object's members in the order in which they stand, to be taken out one by one, so that what is left is what nobody knew.
///
/// A list, as messages and orders have a handful of members: to look through their names takes less time than to hash one.
package struct JSONMembers: Sendable {
    private var members: [(name: String, value: Value)] = []

    /// A member's value; an object's members are not made into a dictionary before somebody wants one.
    package enum Value: Sendable {
        case members(JSONMembers)
        case other(JSONValue)

        package var json: JSONValue {
            switch self {
            case .members(let members): .object(members.dictionary)
            case .other(let value): value
            }
        }

        /// Nil for anything but an object.
        package var members: JSONMembers? {
            switch self {
            case .members(let members): members
            case .other(.object(let members)): JSONMembers(members)
            case .other: nil
            }
        }
    }

    package init() {}

    package init(_ dictionary: [String: JSONValue]) { members = dictionary.map { ($0.key, .other($0.value)) } }

    package var isEmpty: Bool { members.isEmpty }

    package var dictionary: [String: JSONValue] {
        var dictionary: [String: JSONValue] = [:]
        for member in members { dictionary[member.name] = member.value.json }
        return dictionary
    }

    package mutating func take(_ name: String) -> Value? {
        for index in members.indices where members[index].name == name { return members.remove(at: index).value }
        return nil
    }

    /// Whether no member has this name, or one that is canonically equivalent.
    ///
    /// - Parameter names: empty at first; takes the names where there are so many that one is hashed faster than looked for.
    func isNew(_ name: String, _ names: inout Set<String>) -> Bool {
        if members.count < Self.listedNameCount { return members.allSatisfy { $0.name != name } }
        if members.count == Self.listedNameCount { names = Set(members.map(\.name)) }
        return names.insert(name).inserted
    }

    private static let listedNameCount = 16

    /// - Parameter name: a new one.
    mutating func append(_ name: String, _ value: Value) {
        if members.isEmpty { members.reserveCapacity(4) }
        members.append((name, value))
    }
}
