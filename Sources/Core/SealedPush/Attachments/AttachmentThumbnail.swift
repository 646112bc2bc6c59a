extension AttachmentThumbnail {
    /// `{"hidden": true, "clip": [x, y, width, height], "time": 1.5}`, each optional.
    init(_ value: JSONValue, at path: String) throws(ContentError) {
        var members = try MemberReader(value, at: path)
        isHidden = try members.optional("hidden", \.bool) ?? false
        clip = try members.optional("clip", Clip.init)
        time = try members.optional("time") { value in
            value.double.flatMap { (0...Self.maximumTime).contains($0) ? $0 : nil }
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [:]
        if isHidden { members["hidden"] = true }
        if let clip { members["clip"] = .array([clip.x, clip.y, clip.width, clip.height].map(JSONValue.number)) }
        if let time { members["time"] = .number(time) }
        return .object(members)
    }

    private static let maximumTime = 86_400.0
}

extension AttachmentThumbnail.Clip {
    init?(_ value: JSONValue) {
        guard case .array(let values) = value, values.count == 4 else { return nil }
        let numbers = values.compactMap(\.double)
        guard numbers.count == 4, numbers.allSatisfy((0...1).contains) else { return nil }
        self.init(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
}

/// The part of an attachment that represents it on the lock screen. Source: Apple, "UNNotificationAttachment", options.
public struct AttachmentThumbnail: Hashable, Sendable {
    /// Whether the thumbnail is hidden.
    public var isHidden: Bool
    /// The part that is shown; nil for the whole image.
    public var clip: Clip?
    /// The frame number of an animated image, or the seconds into a movie; nil for the system's choice.
    public var time: Double?

    /// Creates a thumbnail; by default, the system's own choice.
    public init(isHidden: Bool = false, clip: Clip? = nil, time: Double? = nil) {
        self.isHidden = isHidden
        self.clip = clip
        self.time = time
    }

    /// A part of an image, with each value from 0 to 1 in units of the image's width and height.
    public struct Clip: Hashable, Sendable {
        /// The left edge.
        public var x: Double
        /// The top edge.
        public var y: Double
        /// The width.
        public var width: Double
        /// The height.
        public var height: Double

        /// Creates a part from its edges and size.
        public init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }
}
