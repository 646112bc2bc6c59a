internal import PushCore

extension Content {
    /// A picture, sound, or movie that belongs to a message and is stored on the web, encrypted or not.
    /// Source: ContentParts 14.
    public struct Attachment: Hashable, Sendable {
        /// An ID that is unique within the message: 1 to 64 bytes.
        public var id: String
        /// The stored file.
        public var file: RemoteFile
        /// The file's type.
        public var type: MediaType
        /// How the lock screen represents the attachment; nil for the system's choice.
        public var thumbnail: AttachmentThumbnail?

        /// Creates an attachment.
        public init(id: String, file: RemoteFile, type: MediaType, thumbnail: AttachmentThumbnail? = nil) {
            self.id = id
            self.file = file
            self.type = type
            self.thumbnail = thumbnail
        }

        /// The largest number of attachments in a message.
        public static let maximumCount = 16

        package static let maximumIDByteCount = 64

        /// Whether a text can be an attachment's ID.
        package static func isID(_ text: String) -> Bool { (1...maximumIDByteCount).contains(text.utf8.count) }
    }
}

extension Content.Attachment {
    /// Reads an entry. The file must not be larger than iOS can show.
    package init(_ value: JSONValue, at path: String) throws(ContentError) {
        var entry = try MemberReader(value, at: path)
        file = try RemoteFile(reading: &entry)
        id = try entry.required("id") { $0.string.flatMap { Self.isID($0) ? $0 : nil } }
        type = try entry.required("type") { $0.string.flatMap(MediaType.init(untrusted:)) }
        thumbnail = try entry.take("thumbnail").map { (value) throws(ContentError) in
            try AttachmentThumbnail(value, at: entry.place(of: "thumbnail"))
        }
        guard let byteCount = file.contentByteCount, (1...type.maximumByteCount).contains(byteCount) else {
            throw .invalid(entry.place(of: "size"))
        }
    }

    /// The JSON of an entry in ``Content/attachments``, including the key.
    package var entry: [UInt8] { json.bytes }

    var json: JSONValue {
        var members = file.members
        members["id"] = .string(id)
        members["type"] = .string(type.rawValue)
        members["thumbnail"] = thumbnail?.json
        return .object(members)
    }
}
