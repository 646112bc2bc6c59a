public import Foundation

/// A file shown with a notification (Apple, UNNotificationAttachment).
///
/// The file's size and soundness are checked later, by the system that shows the notification.
public final class UNNotificationAttachment: NSObject, NSCopying, NSSecureCoding {
    /// The attachment's identifier.
    public let identifier: String
    /// The file.
    public let url: URL
    /// The uniform type identifier of the file.
    public var type: String { format.type }

    /// The largest file the system takes for this type, in bytes.
    package var maximumByteCount: Int { format.maximumByteCount }
    /// Whether, where and when the thumbnail is taken.
    package let thumbnail: AttachmentThumbnail

    private let format: AttachmentFormat

    private init(_ identifier: String, _ url: URL, _ format: AttachmentFormat, _ thumbnail: AttachmentThumbnail) {
        self.identifier = identifier
        self.url = url
        self.format = format
        self.thumbnail = thumbnail
    }

    /// Makes an attachment of a readable file; an empty identifier is replaced by a new one.
    ///
    /// Throws `UNError.attachmentInvalidURL` when the URL is not that of a readable regular file, and
    /// `UNError.attachmentUnrecognizedType` when neither the type hint nor the file's extension is accepted.
    public convenience init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        guard url.isReadableRegularFile else {
            throw UNError(.attachmentInvalidURL, userInfo: [NSLocalizedDescriptionKey: "Invalid attachment file URL"])
        }
        guard let format = AttachmentFormat(of: url, options: options ?? [:]) else {
            throw UNError(
                .attachmentUnrecognizedType,
                userInfo: [NSLocalizedDescriptionKey: "Unrecognized attachment file type"])
        }
        self.init(
            identifier.isEmpty ? UUID().uuidString : identifier, url, format,
            AttachmentThumbnail(options: options ?? [:]))
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationAttachment else { return false }
        return identifier == other.identifier && url == other.url && format == other.format
            && thumbnail == other.thumbnail
    }

    public override var hash: Int { identifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public static var supportsSecureCoding: Bool { true }

    public convenience init?(coder: NSCoder) {
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: "identifier"),
            let address = coder.decodeObject(of: NSString.self, forKey: "url"),
            let url = URL(string: String(describing: address)),
            let type = coder.decodeObject(of: NSString.self, forKey: "type"),
            let format = AttachmentFormat(type: String(describing: type))
        else { return nil }
        self.init(String(describing: identifier), url, format, AttachmentThumbnail(coder: coder))
    }

    public func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: "identifier")
        coder.encode(url.absoluteString as NSString, forKey: "url")
        coder.encode(type as NSString, forKey: "type")
        thumbnail.encode(with: coder)
    }
}

extension URL {
    fileprivate var isReadableRegularFile: Bool {
        guard isFileURL else { return false }
        let path = resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.type] as? FileAttributeType == .typeRegular
            && FileManager.default.isReadableFile(atPath: path)
    }
}
