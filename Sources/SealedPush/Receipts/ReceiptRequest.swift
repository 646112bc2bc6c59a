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

    /// Nil unless the three are there, each as it must be; what else is there is left alone.
    package init?(_ value: JSONValue) {
        guard let address = value["url"]?.string.flatMap(ReceiptAddress.init(parsing:)),
            let id = Self.bytes(value["id"], count: ReceiptID.byteCount),
            let key = Self.bytes(value["key"], count: Self.keyByteCount)
        else { return nil }
        self.init(address: address, id: ReceiptID(id), key: key)
    }

    private static func bytes(_ value: JSONValue?, count: Int) -> [UInt8]? {
        guard let text = value?.string, let bytes = Base64URL.decode(text.utf8), bytes.count == count else {
            return nil
        }
        return bytes
    }
}
