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
    /// Nil where a member is missing or wrong, or the file is larger than iOS shows.
    init?(_ value: JSONValue) {
        guard case .object(let members) = value, let id = members["id"]?.string, (1...64).contains(id.utf8.count),
            let type = members["type"]?.string.flatMap(MediaType.init(rawValue:)), let file = RemoteFile(members),
            let byteCount = file.contentByteCount, (1...type.maximumByteCount).contains(byteCount)
        else { return nil }
        var thumbnail: AttachmentThumbnail?
        if let value = members["thumbnail"] {
            guard let read = AttachmentThumbnail(value) else { return nil }
            thumbnail = read
        }
        self.init(id: id, file: file, type: type, thumbnail: thumbnail)
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
