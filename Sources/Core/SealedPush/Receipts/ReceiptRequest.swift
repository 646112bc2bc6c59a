/// A sealed message's request for a receipt: its address, the device's ID, and the key.
///
/// The key is a secret shared by the server and this device: it can create only this device's receipts. Printing
/// doesn't show the key. Source: ContentParts 16.1.
public struct ReceiptRequest: Hashable, Sendable {
    /// Where the device sends the receipt.
    public let address: ReceiptAddress
    /// The ID under which the server counts this device.
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

    /// The member of the content's JSON, including the preceding comma.
    package var jsonMember: [UInt8] { Array(#","receipt":"#.utf8) + json.bytes }

    /// Reads the three required members and ignores others.
    package init(_ value: JSONValue, at path: String = "receipt") throws(ContentError) {
        var request = try MemberReader(value, at: path)
        self.init(
            address: try request.required("url") { $0.string.flatMap(ReceiptAddress.init(parsing:)) },
            id: ReceiptID(try request.required("id") { $0.bytes(count: ReceiptID.byteCount) }),
            key: try request.required("key") { $0.bytes(count: Self.keyByteCount) })
    }
}
