internal import PushCore

extension Content {
    /// A picture, sound, or movie that belongs to a message and is stored on the web, encrypted or not.
    /// Source: Specification 14.
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

extension AttachmentThumbnail {
    /// `{"hidden": true, "clip": [x, y, width, height], "time": 1.5}`, each optional.
    fileprivate init(_ value: JSONValue, at path: String) throws(ContentError) {
        var members = try MemberReader(value, at: path)
        isHidden = try members.optional("hidden", \.bool) ?? false
        clip = try members.optional("clip", Clip.init)
        time = try members.optional("time") { value in
            value.double.flatMap { (0...Self.maximumTime).contains($0) ? $0 : nil }
        }
    }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [:]
        if isHidden { members["hidden"] = true }
        if let clip { members["clip"] = .array([clip.x, clip.y, clip.width, clip.height].map(JSONValue.number)) }
        if let time { members["time"] = .number(time) }
        return .object(members)
    }

    private static let maximumTime = 86_400.0
}

extension AttachmentThumbnail.Clip {
    fileprivate init?(_ value: JSONValue) {
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

/// The file types that iOS shows in a notification. Source: Apple, "UNNotificationAttachment", supported file types.
public enum MediaType: String, Sendable, CaseIterable {
    /// AIFF audio.
    case aiff = "audio/aiff"
    /// WAVE audio.
    case wave = "audio/wav"
    /// MP3 audio.
    case mp3 = "audio/mpeg"
    /// MPEG-4 audio.
    case mpeg4Audio = "audio/mp4"
    /// A JPEG image.
    case jpeg = "image/jpeg"
    /// A GIF image, possibly animated.
    case gif = "image/gif"
    /// A PNG image.
    case png = "image/png"
    /// An MPEG-1 movie.
    case mpeg = "video/mpeg"
    /// An MPEG-2 movie.
    case mpeg2 = "video/mpeg2"
    /// An MPEG-4 movie.
    case mpeg4 = "video/mp4"
    /// An AVI movie.
    case avi = "video/x-msvideo"

    /// Creates the type for a file name extension; nil for an unknown extension.
    ///
    /// - Parameter filenameExtension: the extension without the dot, in any case.
    public init?(filenameExtension: String) {
        let name = filenameExtension.lowercased()
        guard let type = Self.allCases.first(where: { $0.filenameExtensions.contains(name) }) else { return nil }
        self = type
    }

    /// The size of the largest file that iOS shows, in bytes: 5 MB for sounds, 10 MB for pictures, and 50 MB for movies.
    public var maximumByteCount: Int {
        switch self {
        case .aiff, .wave, .mp3, .mpeg4Audio: 5_000_000
        case .jpeg, .gif, .png: 10_000_000
        case .mpeg, .mpeg2, .mpeg4, .avi: 50_000_000
        }
    }

    /// The uniform type identifier.
    public var typeIdentifier: String { names.typeIdentifier }

    /// The file name extensions, the usual one first.
    public var filenameExtensions: [String] { names.filenameExtensions }

    private var names: (typeIdentifier: String, filenameExtensions: [String]) {
        switch self {
        case .aiff: ("public.aiff-audio", ["aiff", "aif"])
        case .wave: ("com.microsoft.waveform-audio", ["wav", "wave"])
        case .mp3: ("public.mp3", ["mp3"])
        case .mpeg4Audio: ("public.mpeg-4-audio", ["m4a"])
        case .jpeg: ("public.jpeg", ["jpg", "jpeg", "jpe"])
        case .gif: ("com.compuserve.gif", ["gif"])
        case .png: ("public.png", ["png"])
        case .mpeg: ("public.mpeg", ["mpg", "mpeg"])
        case .mpeg2: ("public.mpeg-2-video", ["m2v"])
        case .mpeg4: ("public.mpeg-4", ["mp4"])
        case .avi: ("public.avi", ["avi"])
        }
    }

    /// The number of a file's first bytes that ``matches(_:)`` checks.
    public static let signatureByteCount = 12

    /// Whether a file with these first bytes can be of this type. The rest of it may still be damaged.
    ///
    /// - Parameter start: the file's first 12 bytes, or all of a shorter file.
    public func matches(_ start: [UInt8]) -> Bool {
        func has(_ text: String, at offset: Int = 0) -> Bool { start.dropFirst(offset).starts(with: text.utf8) }
        // An ISO base media file whose brand is none of these.
        func isMedia(but brands: [String]) -> Bool { has("ftyp", at: 4) && !brands.contains { has($0, at: 8) } }
        switch self {
        case .png: return start.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case .gif: return has("GIF87a") || has("GIF89a")
        case .jpeg: return start.starts(with: [0xff, 0xd8, 0xff])
        case .wave: return has("RIFF") && has("WAVE", at: 8)
        case .avi: return has("RIFF") && has("AVI ", at: 8)
        case .aiff: return has("FORM") && (has("AIFF", at: 8) || has("AIFC", at: 8))
        case .mp3:
            // A tag, or the sync of a layer III frame.
            return has("ID3") || (start.count >= 2 && start[0] == 0xff && start[1] & 0xe6 == 0xe2)
        case .mpeg4Audio: return isMedia(but: Self.pictureBrands)
        case .mpeg4: return isMedia(but: Self.pictureBrands + ["M4A ", "M4B "])
        // A pack, or the sequence header of a video stream.
        case .mpeg: return start.starts(with: [0, 0, 1, 0xba]) || start.starts(with: [0, 0, 1, 0xb3])
        case .mpeg2: return start.starts(with: [0, 0, 1, 0xb3]) || start.starts(with: [0, 0, 1, 0xba])
        }
    }

    /// HEIC and AVIF, which iOS never shows in notifications. Source: ISO/IEC 23008-12, annex B; AV1 Image File Format, 6.
    private static let pictureBrands = [
        "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "mif2", "msf1", "avif", "avis", "avci",
        "avcs",
    ]
}

/// Content that is too large for one push, stored as an encrypted file on the web. Source: Specification 14.5.
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
