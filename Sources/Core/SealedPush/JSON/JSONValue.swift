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

extension JSONValue {
    /// Returns the place of a value that isn't a finite number, has too long a name, or is nested too deep, such as
    /// `.order.items[2]`; nil if there is none. `depth` is this value's own level.
    func unsealablePlace(depth: Int) -> String? {
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
