public import Foundation
internal import UserNotifications

/// A file shown with a notification.
public struct ShownAttachment: Codable, Equatable, Sendable {
    public var identifier: String
    /// The uniform type identifier, such as `public.png`.
    public var type: String
    /// In the device's own data store; from there on it is nobody's to change.
    public var file: URL
    /// What the extension had called the file.
    public var name: String
    public var byteCount: Int
    public var thumbnail: Thumbnail

    /// What the extension said about the thumbnail.
    public struct Thumbnail: Codable, Equatable, Sendable {
        public var isHidden: Bool
        /// The part to show, in units of the image's width and height; nil for all of it.
        public var clippingRect: CGRect?
        /// The frame of an animated image, or the seconds into a movie; nil for the system's choice.
        public var time: Double?

        public init(isHidden: Bool = false, clippingRect: CGRect? = nil, time: Double? = nil) {
            self.isHidden = isHidden
            self.clippingRect = clippingRect
            self.time = time
        }
    }

    public enum Kind: String, Sendable { case image, audio, movie }

    public var kind: Kind {
        switch type {
        case "public.jpeg", "com.compuserve.gif", "public.png": .image
        case "public.mpeg", "public.mpeg-2-video", "public.mpeg-4", "public.avi": .movie
        default: .audio
        }
    }

    /// One object for `--json`.
    var jsonObject: [String: Any] {
        let rect = thumbnail.clippingRect.map { [$0.minX, $0.minY, $0.width, $0.height].map { Double($0) } }
        return [
            "identifier": identifier, "type": type, "kind": kind.rawValue, "file": file.path(percentEncoded: false),
            "name": name, "bytes": byteCount, "thumbnailHidden": thumbnail.isHidden,
            "thumbnailClippingRect": rect ?? NSNull(), "thumbnailTime": thumbnail.time ?? NSNull(),
        ]
    }
}

extension ShownAttachment {
    /// As the extension hands it over: nothing is checked yet, and the file is still the extension's.
    init(_ attachment: UNNotificationAttachment) {
        let thumbnail = attachment.thumbnail
        self.init(
            identifier: attachment.identifier, type: attachment.type, file: attachment.url.absoluteURL,
            name: attachment.url.lastPathComponent, byteCount: 0,
            thumbnail: Thumbnail(
                isHidden: thumbnail.isHidden, clippingRect: thumbnail.clippingRect, time: thumbnail.time))
    }
}
