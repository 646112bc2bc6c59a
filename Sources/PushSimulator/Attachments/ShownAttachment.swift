package import Foundation
internal import UserNotifications

/// A file shown with a notification.
package struct ShownAttachment: Codable, Equatable, Sendable {
    package var identifier: String
    /// The uniform type identifier, such as `public.png`.
    package var type: String
    /// In the device's own data store; from there on it is nobody's to change.
    package var file: URL
    /// What the extension had called the file.
    package var name: String
    package var byteCount: Int
    package var thumbnail: Thumbnail

    /// What the extension said about the thumbnail.
    package struct Thumbnail: Codable, Equatable, Sendable {
        package var isHidden: Bool
        /// The part to show, in units of the image's width and height; nil for all of it.
        package var clippingRect: CGRect?
        /// The frame of an animated image, or the seconds into a movie; nil for the system's choice.
        package var time: Double?

        package init(isHidden: Bool = false, clippingRect: CGRect? = nil, time: Double? = nil) {
            self.isHidden = isHidden
            self.clippingRect = clippingRect
            self.time = time
        }
    }

    package enum Kind: String, Sendable { case image, audio, movie }

    package var kind: Kind {
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

/// What a file's first bytes say about its type.
///
/// Sources: the formats' own documents (PNG, GIF89a, JFIF, RIFF, AIFF, ISO 14496-12, ISO 11172-1, ISO 13818-1, ID3v2).
enum AttachmentContent {
    /// As many bytes as are looked at.
    static let byteCount = 12

    /// Whether a file of this type may begin so.
    static func begins(_ bytes: [UInt8], as type: String) -> Bool {
        switch type {
        case "public.jpeg": bytes.starts(with: [0xff, 0xd8, 0xff])
        case "public.png": bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        case "com.compuserve.gif": bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8)
        case "public.aiff-audio": isChunk("FORM", ["AIFF", "AIFC"], bytes)
        case "com.microsoft.waveform-audio": isChunk("RIFF", ["WAVE"], bytes)
        case "public.avi": isChunk("RIFF", ["AVI "], bytes)
        case "public.mp3": bytes.starts(with: "ID3".utf8) || isAudioFrame(bytes)
        case "public.mpeg-4", "public.mpeg-4-audio": bytes.dropFirst(4).starts(with: "ftyp".utf8)
        // A pack header, or a bare video sequence.
        case "public.mpeg", "public.mpeg-2-video":
            bytes.starts(with: [0, 0, 1, 0xba]) || bytes.starts(with: [0, 0, 1, 0xb3])
        default: false
        }
    }

    private static func isChunk(_ name: String, _ kinds: [String], _ bytes: [UInt8]) -> Bool {
        bytes.starts(with: name.utf8) && kinds.contains { bytes.dropFirst(8).starts(with: $0.utf8) }
    }

    /// Eleven bits of synchronisation, then a version and a layer that are not reserved.
    private static func isAudioFrame(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && bytes[0] == 0xff && bytes[1] & 0xe0 == 0xe0 && bytes[1] & 0x18 != 0x08
            && bytes[1] & 0x06 != 0
    }
}
