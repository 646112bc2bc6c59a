package import Foundation
internal import SealedPush
internal import UserNotifications

/// A file shown with a notification.
package struct ShownAttachment: Codable, Equatable, Sendable {
    package var identifier: String
    /// The uniform type identifier, such as `public.png`.
    package var type: String
    /// The file's location; in the device's own data store, nothing else can change the file.
    package var file: URL
    /// The extension's name for the file.
    package var name: String
    package var byteCount: Int
    var thumbnail: ThumbnailOptions

    package var isThumbnailHidden: Bool { thumbnail.isHidden }

    package enum Kind: String, Sendable { case image, audio, movie }

    package var kind: Kind {
        switch mediaType {
        case .jpeg, .gif, .png: .image
        case .mpeg, .mpeg2, .mpeg4, .avi: .movie
        case .aiff, .wave, .mp3, .mpeg4Audio, nil: .audio
        }
    }

    var mediaType: MediaType? { MediaType.allCases.first { $0.typeIdentifier == type } }

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
    /// Creates an attachment as the extension handed it over: unchecked, with the file still owned by the extension.
    init(_ attachment: UNNotificationAttachment) {
        self.init(
            identifier: attachment.identifier, type: attachment.type, file: attachment.url.absoluteURL,
            name: attachment.url.lastPathComponent, byteCount: 0, thumbnail: attachment.thumbnail)
    }
}
