/// What APNs knows a device and app by: 1 to 100 bytes, written in hexadecimal.
///
/// Apple says not to rely on its length (32 bytes today, more in Xcode's simulator). It is no secret, but it identifies a
/// person's device: logs and metrics show ``logged`` only.
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    /// In small letters.
    public let description: String

    /// Nil unless the text is an even number of hexadecimal digits, 2 to 200.
    public init?(parsing text: String) {
        guard (2...200).contains(text.utf8.count), text.utf8.count.isMultiple(of: 2),
            text.utf8.allSatisfy({ Self.isDigit($0) })
        else { return nil }
        description = text.lowercased()
    }

    /// The first eight digits, for logs.
    public var logged: String { description.prefix(8) + (description.utf8.count > 8 ? "…" : "") }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
