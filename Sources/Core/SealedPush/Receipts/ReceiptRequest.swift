internal import PushCore

/// A sealed message's request for a receipt: its address, the device's ID, and the key.
///
/// The key is a secret shared by the server and this device: it can create only this device's receipts. Printing
/// doesn't show the key. Source: Specification 16.1.
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

/// A device's name in its receipts: 16 bytes that have meaning only for the server that created them.
public struct ReceiptID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount)
        self.bytes = bytes
    }

    /// 32 lowercase hexadecimal digits.
    public var description: String { Hex.encode(bytes) }

    package static let byteCount = 16
}

/// The address for receipts: a URL of at most 256 bytes. It uses `https`, or `http` to this machine, which works only in
/// the simulator. Source: Specification 16.1.
public struct ReceiptAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL as given.
    public let description: String
    /// The server's name or address, in lowercase.
    package let host: String

    /// Returns nil unless the text is `https://HOST…`, or `http://` with a loopback host: visible ASCII that needs no
    /// escaping, without a user, password, or fragment.
    public init?(parsing text: String) {
        guard text.utf8.count <= Self.maximumByteCount, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let authority = text.dropFirst(isSecure ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.host(authority), isSecure || URLAuthority.loopbackHosts.contains(host) else { return nil }
        description = text
        self.host = host
    }

    /// Whether it goes over the network, and is therefore encrypted.
    package var isSecure: Bool { description.hasPrefix("https://") }

    /// Returns nil if there is no host, or if anything but a port follows it.
    private static func host(_ text: Substring) -> String? {
        guard let authority = URLAuthority(text), !authority.host.isEmpty, authority.host != "[]" else { return nil }
        let isHost =
            authority.host.hasPrefix("[")
            ? authority.host.dropFirst().dropLast().utf8.allSatisfy(isOfAddress)
            : authority.host.utf8.allSatisfy(\.isOfHostName)
        guard isHost else { return nil }
        if let port = authority.port {
            guard let number = UInt16(port), number > 0, port == String(number) else { return nil }
        }
        return authority.host.lowercased()
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte) && !Array("\"#<>@\\^`{|}".utf8).contains(byte)
    }

    private static func isOfAddress(_ byte: UInt8) -> Bool {
        byte.isOfHostName && byte != UInt8(ascii: "-") || byte == UInt8(ascii: ":")
    }

    private static let maximumByteCount = 256
}
