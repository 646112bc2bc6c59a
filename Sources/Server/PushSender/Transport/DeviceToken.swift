internal import PushCore

/// The APNs token for an app on a device: 1 to 100 bytes, which the app sends to its server in hexadecimal. Apple says not
/// to rely on its length (32 bytes today, more in Xcode's simulator).
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    /// The token in lowercase hexadecimal.
    public var description: String { Hex.encode(bytes) }

    /// Creates a token, or returns nil unless the text has 2 to 200 hexadecimal digits, and an even number of them.
    public init?(parsing text: String) {
        guard (2...2 * Self.maximumByteCount).contains(text.utf8.count), let bytes = Hex.decode(text) else {
            return nil
        }
        self.bytes = bytes
    }

    package static let maximumByteCount = 100
}
