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

/// Any JSON value: in `data`, from an app; under keys unknown to this version, from a newer sender.
///
/// Literals create values, except `nil`: write `.null`, so that a missing value and a null one are never confused.
public enum JSONValue: Hashable, Sendable {
    /// JSON's `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction or exponent.
    case integer(Int64)
    /// A finite number; other numbers can't be sealed.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])

    /// The value under a key; nil if this isn't an object or lacks the key.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension JSONValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue {
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// Returns the bytes of a base64url string that encodes exactly this many bytes.
    package func bytes(count: Int) -> [UInt8]? {
        string.flatMap { Base64URL.decode($0.utf8) }.flatMap { $0.count == count ? $0 : nil }
    }

    package var integer: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }
}
