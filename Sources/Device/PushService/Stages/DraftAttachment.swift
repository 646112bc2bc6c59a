public import Foundation
public import SealedPush

/// A file that is shown with a notification.
public struct DraftAttachment: Hashable, Sendable {
    /// The identifier, unique in the notification.
    public var identifier: String
    /// A finished file, usually from ``StageContext/scratchFile(named:)``. The system moves it away.
    public var file: URL
    /// The uniform type identifier, such as `public.png`; nil if the filename extension determines it.
    public var type: String?
    /// The thumbnail's options; nil for the system's defaults.
    public var thumbnail: AttachmentThumbnail?
    /// The URL it came from, for a content extension; see ``SealedNotification/attachmentURLs``.
    public var remoteURL: URL?
    /// Its place among the attachments.
    public var position: Int

    /// Creates an attachment; see each property for its meaning.
    public init(
        identifier: String, file: URL, type: String? = nil, thumbnail: AttachmentThumbnail? = nil,
        remoteURL: URL? = nil, position: Int = 0
    ) {
        self.identifier = identifier
        self.file = file
        self.type = type
        self.thumbnail = thumbnail
        self.remoteURL = remoteURL
        self.position = position
    }
}
