/// Content that is too large for one push, stored as an encrypted file on the web. Source: ContentParts 18.1.
public struct Overflow: Hashable, Sendable {
    /// The file, which is always encrypted.
    public var file: RemoteFile

    /// Creates a reference to an encrypted file.
    public init(file: RemoteFile) { self.file = file }

    /// The maximum size of the content in the file, in bytes.
    public static let maximumContentByteCount = 65_536
}

extension Overflow {
    init(_ value: JSONValue, at path: String) throws(ContentError) {
        var members = try MemberReader(value, at: path)
        file = try RemoteFile(reading: &members)
        guard file.key != nil else { throw .invalid(members.place(of: "plain")) }
        guard let byteCount = file.contentByteCount, (1...Self.maximumContentByteCount).contains(byteCount) else {
            throw .invalid(members.place(of: "size"))
        }
    }

    var json: JSONValue { .object(file.members) }
}
