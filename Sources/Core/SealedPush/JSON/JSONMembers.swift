internal import PushCore

/// An object's members in their original order, to be taken one by one so that only unknown members remain. A list, since
/// messages and orders have few members: searching their names takes less time than hashing one. Compares names by bytes.
package struct JSONMembers: Sendable {
    private var members: [(name: String, value: Value)] = []

    /// A member's value. An object's members become a dictionary only on demand.
    package enum Value: Sendable {
        case members(JSONMembers)
        case other(JSONValue)

        package var json: JSONValue {
            switch self {
            case .members(let members): .object(members.dictionary)
            case .other(let value): value
            }
        }

        /// The object's members; nil for anything but an object.
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

    package var names: [String] { members.map(\.name) }

    package func value(of name: String) -> Value? { members.first { $0.name.hasBytes(of: name) }?.value }

    /// The members by name. Of canonically equivalent names, which are equal in a dictionary, only the first is kept.
    package var dictionary: [String: JSONValue] {
        Dictionary(members.lazy.map { ($0.name, $0.value.json) }) { first, _ in first }
    }

    package mutating func take(_ name: String) -> Value? {
        members.firstIndex { $0.name.hasBytes(of: name) }.map { members.remove(at: $0).value }
    }

    /// Whether no member has this name. `names` is empty at first. The names' bytes are added once
    /// hashing is faster than searching.
    func isNew(_ name: String, _ names: inout Set<[UInt8]>) -> Bool {
        if members.count < Self.listedNameCount { return !members.contains { $0.name.hasBytes(of: name) } }
        if members.count == Self.listedNameCount { names = Set(members.map { Array($0.name.utf8) }) }
        return names.insert(Array(name.utf8)).inserted
    }

    private static let listedNameCount = 16

    mutating func append(_ name: String, _ value: Value) {
        if members.isEmpty { members.reserveCapacity(4) }
        members.append((name, value))
    }
}
