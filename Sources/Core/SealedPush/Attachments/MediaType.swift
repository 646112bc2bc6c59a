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
