public import Foundation

/// A file shown with a notification (Apple, UNNotificationAttachment).
///
/// The system that shows the notification checks the file's size and contents later.
public final class UNNotificationAttachment: NSObject, NSCopying {
    /// The attachment's identifier.
    public let identifier: String
    /// The file.
    public let url: URL
    /// The uniform type identifier of the file.
    public let type: String
    /// The options for the thumbnail.
    package let thumbnail: ThumbnailOptions

    /// Creates an attachment from a readable file. An empty identifier is replaced with a generated one.
    ///
    /// Throws `UNError.attachmentInvalidURL` if the URL doesn't refer to a readable regular file, and
    /// `UNError.attachmentUnrecognizedType` if the type hint, or the file's extension, isn't accepted.
    public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        guard url.isReadableRegularFile else {
            throw UNError(.attachmentInvalidURL, userInfo: [NSLocalizedDescriptionKey: "Invalid attachment file URL"])
        }
        guard let type = url.attachmentType(hint: options?[UNNotificationAttachmentOptionsTypeHintKey]) else {
            throw UNError(
                .attachmentUnrecognizedType, userInfo: [NSLocalizedDescriptionKey: "Unrecognized attachment file type"])
        }
        self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
        self.url = url
        self.type = type
        thumbnail = ThumbnailOptions(options ?? [:])
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationAttachment else { return false }
        return identifier == other.identifier && url == other.url && type == other.type && thumbnail == other.thumbnail
    }

    public override var hash: Int { identifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

extension URL {
    fileprivate var isReadableRegularFile: Bool {
        guard isFileURL else { return false }
        let path = resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeRegular
            && FileManager.default.isReadableFile(atPath: path)
    }

    /// Returns the hinted type or, without a hint, the type for the file's extension. Returns nil if it isn't accepted.
    fileprivate func attachmentType(hint: Any?) -> String? {
        guard let hint else {
            let name = pathExtension.lowercased()
            return acceptedTypes.first { $0.value.contains(name) }?.key
        }
        let type = (hint as? String) ?? (hint as? NSString).map(String.init(describing:))
        return type.flatMap { acceptedTypes[$0] == nil ? nil : $0 }
    }
}

/// The file types that the system shows, with their extensions (Apple, UNNotificationAttachment: the table of types).
private let acceptedTypes = [
    "public.aiff-audio": ["aiff", "aif"], "com.microsoft.waveform-audio": ["wav", "wave"], "public.mp3": ["mp3"],
    "public.mpeg-4-audio": ["m4a"], "public.jpeg": ["jpeg", "jpg", "jpe"], "com.compuserve.gif": ["gif"],
    "public.png": ["png"], "public.mpeg": ["mpeg", "mpg"], "public.mpeg-2-video": ["m2v"], "public.mpeg-4": ["mp4"],
    "public.avi": ["avi"],
]

/// The option for the file's uniform type identifier. Without it, the file's extension determines the type
/// (Apple, UNNotificationAttachmentOptionsTypeHintKey).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationAttachmentOptionsTypeHintKey: String = "UNNotificationAttachmentOptionsTypeHintKey"

/// The option that hides the thumbnail, a Boolean (Apple, UNNotificationAttachmentOptionsThumbnailHiddenKey).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationAttachmentOptionsThumbnailHiddenKey: String =
    "UNNotificationAttachmentOptionsThumbnailHiddenKey"

/// The option for the part of the image that the thumbnail shows, a dictionary of a unit rectangle
/// (Apple, UNNotificationAttachmentOptionsThumbnailClippingRectKey).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey: String =
    "UNNotificationAttachmentOptionsThumbnailClippingRectKey"

/// The option for the frame of an animated image, or the second of a movie, that the thumbnail shows
/// (Apple, UNNotificationAttachmentOptionsThumbnailTimeKey).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationAttachmentOptionsThumbnailTimeKey: String = "UNNotificationAttachmentOptionsThumbnailTimeKey"

/// The thumbnail options of an attachment. An option of the wrong type counts as absent.
package struct ThumbnailOptions: Codable, Equatable, Sendable {
    /// Whether the thumbnail is hidden.
    package let isHidden: Bool
    /// The part of the image to show, in units of its width and height; nil for the whole image.
    package let clippingRect: CGRect?
    /// The frame number of an animated image, or the seconds into a movie.
    package let time: Double?

    package init(_ options: [AnyHashable: Any] = [:]) {
        isHidden = Self.number(options[UNNotificationAttachmentOptionsThumbnailHiddenKey]) ?? 0 != 0
        let rect = options[UNNotificationAttachmentOptionsThumbnailClippingRectKey] as? [String: Any]
        clippingRect = rect.flatMap(Self.rect(in:))
        let time = options[UNNotificationAttachmentOptionsThumbnailTimeKey]
        self.time = Self.number(time) ?? (time as? [String: Any]).flatMap(Self.seconds(in:))
    }

    /// Reads a rectangle from its Core Graphics dictionary (Apple, CGRect.dictionaryRepresentation).
    private static func rect(in dictionary: [String: Any]) -> CGRect? {
        guard let x = number(dictionary["X"]), let y = number(dictionary["Y"]),
            let width = number(dictionary["Width"]), let height = number(dictionary["Height"])
        else { return nil }
        return CGRect(x: x, y: y, width: width, height: height)
    }

    /// Reads a time from its Core Media dictionary and returns it in seconds (Apple, CMTimeCopyAsDictionary).
    private static func seconds(in dictionary: [String: Any]) -> Double? {
        guard let value = number(dictionary["value"]), let timescale = number(dictionary["timescale"]), timescale > 0
        else { return nil }
        return value / timescale
    }

    private static func number(_ value: Any?) -> Double? {
        switch value {
        case let truth as Bool: truth ? 1 : 0
        case let number as NSNumber: number.doubleValue
        case let number as any BinaryInteger: Double(number)
        case let number as any BinaryFloatingPoint: Double(number)
        default: nil
        }
    }
}

/// An error of the notification system (Apple, UNError), with the codes that this stand-in needs.
///
/// Like Foundation's own errors, it has the shape of an imported Objective-C error, so that
/// `catch UNError.attachmentInvalidURL` and `as NSError` work.
public struct UNError: _BridgedStoredNSError {
    public let _nsError: NSError

    public init(_nsError error: NSError) {
        precondition(error.domain == UNErrorDomain, "A UNError requires an NSError whose domain is UNErrorDomain.")
        _nsError = error
    }

    public static var errorDomain: String { UNErrorDomain }
    public static var _nsErrorDomain: String { UNErrorDomain }

    /// The error's code (Apple, UNError.Code).
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = UNError

        /// The URL isn't that of a readable regular file.
        case attachmentInvalidURL = 100
        /// The file's type isn't one that the system shows.
        case attachmentUnrecognizedType = 101
    }

    public static var attachmentInvalidURL: Code { .attachmentInvalidURL }
    public static var attachmentUnrecognizedType: Code { .attachmentUnrecognizedType }
}

/// The domain of every `UNError` (Apple, UNErrorDomain).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNErrorDomain: String = "UNErrorDomain"
