extension Content {
    /// A picture, sound or movie that belongs to a message and lies somewhere on the web, encrypted or not.
    ///
    /// Source: Specification 14.
    public struct Attachment: Hashable, Sendable {
        /// Unique in its message: 1 to 64 bytes.
        public var id: String
        public var file: RemoteFile
        public var type: MediaType
        /// What stands for it on the lock screen; nil for the system's choice.
        public var thumbnail: AttachmentThumbnail?

        public init(id: String, file: RemoteFile, type: MediaType, thumbnail: AttachmentThumbnail? = nil) {
            self.id = id
            self.file = file
            self.type = type
            self.thumbnail = thumbnail
        }

        /// A message has no more.
        public static let maximumCount = 16
    }
}

extension Content.Attachment {
    /// Reads an entry; the file may not be larger than iOS shows.
    package init(_ value: JSONValue, at path: String) throws(ContentError) {
        var entry = try MemberReader(value, at: path)
        file = try RemoteFile(reading: &entry)
        id = try entry.required("id") { $0.string.flatMap { (1...64).contains($0.utf8.count) ? $0 : nil } }
        type = try entry.required("type") { $0.string.flatMap(MediaType.init(rawValue:)) }
        thumbnail = try entry.optional("thumbnail", AttachmentThumbnail.init)
        guard let byteCount = file.contentByteCount, (1...type.maximumByteCount).contains(byteCount) else {
            throw .invalid(entry.place(of: "size"))
        }
    }

    /// What stands in ``Content/attachments``, as JSON: with the key.
    package var entry: [UInt8] {
        var writer = JSONWriter()
        writer.value(json)
        return writer.bytes
    }

    var json: JSONValue {
        var members = file.members
        members["id"] = .string(id)
        members["type"] = .string(type.rawValue)
        members["thumbnail"] = thumbnail?.json
        return .object(members)
    }
}

extension AttachmentThumbnail {
    /// `{"hidden": true, "clip": [x, y, width, height], "time": 1.5}`, each optional.
    fileprivate init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        self.init()
        switch members["hidden"] {
        case nil: break
        case .bool(let isHidden)?: self.isHidden = isHidden
        default: return nil
        }
        if let value = members["clip"] {
            guard case .array(let values) = value, values.count == 4 else { return nil }
            let numbers = values.compactMap(\.double)
            guard numbers.count == 4, numbers.allSatisfy((0...1).contains) else { return nil }
            clip = Clip(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        }
        if let value = members["time"] {
            guard let time = value.double, (0...Self.maximumTime).contains(time) else { return nil }
            self.time = time
        }
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [:]
        if isHidden { members["hidden"] = true }
        if let clip { members["clip"] = .array([clip.x, clip.y, clip.width, clip.height].map(JSONValue.number)) }
        if let time { members["time"] = .number(time) }
        return .object(members)
    }

    /// A day of seconds.
    private static let maximumTime = 86_400.0
}
