/// The address for receipts: a URL of at most 256 bytes. It uses `https`, or `http` to this machine, which works only in
/// the simulator. Source: ContentParts 16.1.
public struct ReceiptAddress: Hashable, Sendable, CustomStringConvertible {
    /// The URL as given.
    public let description: String
    /// The server's name or address, in lowercase.
    package let host: String

    /// Returns nil unless the text is such a URL with a lowercase host, and without a user, password, or fragment.
    public init?(parsing text: String) {
        guard let url = ContentURL(parsing: text, maximumByteCount: Self.maximumByteCount) else { return nil }
        description = text
        host = url.host
    }

    /// Whether it goes over the network, and is therefore encrypted.
    package var isSecure: Bool { description.hasPrefix("https://") }

    private static let maximumByteCount = 256
}
