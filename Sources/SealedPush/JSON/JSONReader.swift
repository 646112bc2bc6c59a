internal import _PushBase

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads one JSON object that nobody vouches for, within limits: Foundation's decoder, which recurses, sees only what
/// has passed the check of size, encoding and depth.
package enum JSONReader {
    /// How deep arrays and objects may lie in one another; the outermost is 1.
    package static let maximumDepth = 16

    /// The members of the object that `bytes` hold; nil where they are too long, not UTF-8, no JSON object, too deep, or
    /// hold a number that neither Int64 nor Double has. Of members with one name, any may be kept.
    ///
    /// - Parameter likely: what is probably under which name. It changes nothing but the time: each wrong guess costs
    ///   Foundation's decoder an error, more than a microsecond.
    package static func object(
        _ bytes: [UInt8], maximumByteCount: Int, likely: [String: Likely] = [:]
    ) -> [String: JSONValue]? {
        guard bytes.count <= maximumByteCount, isWithinLimits(bytes),
            let members = try? JSONDecoder().decode(Members.self, from: Data(bytes), configuration: likely)
        else { return nil }
        return members.values
    }

    package enum Likely: Sendable { case integer, object }

    /// An object's members, each first tried as what it probably is.
    private struct Members: DecodableWithConfiguration {
        var values: [String: JSONValue] = [:]

        init(from decoder: any Decoder, configuration likely: [String: Likely]) throws {
            let container = try decoder.container(keyedBy: Name.self)
            for name in container.allKeys {
                values[name.stringValue] = try Self.value(name, in: container, likely[name.stringValue])
            }
        }

        private static func value(
            _ name: Name, in container: KeyedDecodingContainer<Name>, _ likely: Likely?
        ) throws -> JSONValue {
            switch likely {
            case .integer:
                if let value = try? container.decode(Int64.self, forKey: name) { return .integer(value) }
            case .object:
                if let value = try? container.decode([String: JSONValue].self, forKey: name) { return .object(value) }
            case nil: break
            }
            return try container.decode(JSONValue.self, forKey: name)
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// UTF-8 that begins with `{`, holds no 0x00 (which could pass for UTF-16), is not too deep, and has no comma before a
    /// closing bracket (which Foundation's decoder would let pass).
    package static func isWithinLimits(_ bytes: [UInt8], maximumDepth: Int = maximumDepth) -> Bool {
        guard bytes.first(where: { !whiteSpace.contains($0) }) == UInt8(ascii: "{"),
            String(strictUTF8: bytes) != nil
        else { return false }
        var depth = 0
        var isInString = false
        var isEscaped = false
        var isAfterComma = false
        for byte in bytes {
            guard byte != 0 else { return false }
            if isInString {
                if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth <= maximumDepth else { return false }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard !isAfterComma else { return false }
                depth -= 1
            default: break
            }
            if !whiteSpace.contains(byte) { isAfterComma = byte == UInt8(ascii: ",") }
        }
        return true
    }

    private static let whiteSpace: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
}
