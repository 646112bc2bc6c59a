/// The kinds of files that iOS shows in a notification.
///
/// Source: Apple, "UNNotificationAttachment", supported file types.
public enum MediaType: String, Sendable, CaseIterable {
    case aiff = "audio/aiff"
    case wave = "audio/wav"
    case mp3 = "audio/mpeg"
    case mpeg4Audio = "audio/mp4"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case png = "image/png"
    case mpeg = "video/mpeg"
    case mpeg2 = "video/mpeg2"
    case mpeg4 = "video/mp4"
    case avi = "video/x-msvideo"

    /// The kind that a file's name says; nil for others.
    ///
    /// - Parameter filenameExtension: without the dot, in any case.
    public init?(filenameExtension: String) {
        let name = filenameExtension.lowercased()
        guard let type = Self.allCases.first(where: { $0.filenameExtensions.contains(name) }) else { return nil }
        self = type
    }

    /// The largest file that iOS shows, in bytes: 5 MB of sound, 10 MB of picture, 50 MB of movie.
    public var maximumByteCount: Int {
        switch self {
        case .aiff, .wave, .mp3, .mpeg4Audio: 5_000_000
        case .jpeg, .gif, .png: 10_000_000
        case .mpeg, .mpeg2, .mpeg4, .avi: 50_000_000
        }
    }

    /// The uniform type identifier.
    public var typeIdentifier: String {
        switch self {
        case .aiff: "public.aiff-audio"
        case .wave: "com.microsoft.waveform-audio"
        case .mp3: "public.mp3"
        case .mpeg4Audio: "public.mpeg-4-audio"
        case .jpeg: "public.jpeg"
        case .gif: "com.compuserve.gif"
        case .png: "public.png"
        case .mpeg: "public.mpeg"
        case .mpeg2: "public.mpeg-2-video"
        case .mpeg4: "public.mpeg-4"
        case .avi: "public.avi"
        }
    }

    /// The usual one first.
    public var filenameExtensions: [String] {
        switch self {
        case .aiff: ["aiff", "aif"]
        case .wave: ["wav", "wave"]
        case .mp3: ["mp3"]
        case .mpeg4Audio: ["m4a"]
        case .jpeg: ["jpg", "jpeg", "jpe"]
        case .gif: ["gif"]
        case .png: ["png"]
        case .mpeg: ["mpg", "mpeg"]
        case .mpeg2: ["m2v"]
        case .mpeg4: ["mp4"]
        case .avi: ["avi"]
        }
    }

    /// How many of a file's first bytes ``matches(_:)`` looks at.
    public static let signatureByteCount = 12

    /// Whether a file that begins like this can be of this kind. The rest of it may still be damaged.
    ///
    /// - Parameter start: the file's first 12 bytes, or all where it has fewer.
    public func matches(_ start: [UInt8]) -> Bool {
        func has(_ text: StaticString, at offset: Int = 0) -> Bool {
            let end = offset + text.utf8CodeUnitCount
            return start.count >= end && text.withUTF8Buffer { start[offset..<end].elementsEqual($0) }
        }
        switch self {
        case .png: return start.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case .gif: return has("GIF87a") || has("GIF89a")
        case .jpeg: return start.starts(with: [0xff, 0xd8, 0xff])
        case .wave: return has("RIFF") && has("WAVE", at: 8)
        case .avi: return has("RIFF") && has("AVI ", at: 8)
        case .aiff: return has("FORM") && (has("AIFF", at: 8) || has("AIFC", at: 8))
        case .mp3:
            // A tag, or the sync of a frame of layer III.
            return has("ID3") || (start.count >= 2 && start[0] == 0xff && start[1] & 0xe6 == 0xe2)
        case .mpeg4Audio: return has("ftyp", at: 4)
        case .mpeg4: return has("ftyp", at: 4) && !has("M4A ", at: 8) && !has("M4B ", at: 8)
        // A pack, or the sequence header of a video stream.
        case .mpeg: return start.starts(with: [0, 0, 1, 0xba]) || start.starts(with: [0, 0, 1, 0xb3])
        case .mpeg2: return start.starts(with: [0, 0, 1, 0xb3]) || start.starts(with: [0, 0, 1, 0xba])
        }
    }
}
