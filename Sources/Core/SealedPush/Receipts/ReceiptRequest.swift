/// What a sealed message says about receipts: where to, from whom, and under which key.
///
/// The key is a secret of the server and this one device: whoever has it can make this device's receipts, and nothing else.
/// Printing shows no key. Source: Specification 16.1.
public struct ReceiptRequest: Hashable, Sendable {
    public let address: ReceiptAddress
    public let id: ReceiptID
    package let key: [UInt8]

    package init(address: ReceiptAddress, id: ReceiptID, key: [UInt8]) {
        precondition(key.count == Self.keyByteCount)
        self.address = address
        self.id = id
        self.key = key
    }

    package static let keyByteCount = 32
}

extension ReceiptRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "ReceiptRequest(\(address))" }
    public var customMirror: Mirror { Mirror(self, children: ["address": address, "id": id]) }
}

extension ReceiptRequest {
    /// The value of the content's key `receipt`.
    package var json: JSONValue {
        [
            "url": .string(address.description), "id": .string(Base64URL.encode(id.bytes)),
            "key": .string(Base64URL.encode(key)),
        ]
    }

    /// The member as it stands in the content's JSON, with the comma before it.
    package var jsonMember: [UInt8] {
        var writer = JSONWriter()
        writer.value(json)
        return Array(#","receipt":"#.utf8) + writer.bytes
    }

    /// Reads the three that must be there; what else is there is left alone.
    package init(_ value: JSONValue, at path: String = "receipt") throws(ContentError) {
        var request = try MemberReader(value, at: path)
        self.init(
            address: try request.required("url") { $0.string.flatMap(ReceiptAddress.init(parsing:)) },
            id: ReceiptID(try request.required("id") { Self.bytes($0, count: ReceiptID.byteCount) }),
            key: try request.required("key") { Self.bytes($0, count: Self.keyByteCount) })
    }

    private static func bytes(_ value: JSONValue, count: Int) -> [UInt8]? {
        value.string.flatMap { Base64URL.decode($0.utf8) }.flatMap { $0.count == count ? $0 : nil }
    }
}
