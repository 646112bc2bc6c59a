public import Foundation
public import SealedPush

/// What will be shown, as far as it is known: the opened content's own at first, then what the stages make of it.
public struct NotificationDraft: Sendable {
    /// What has opened, unchanged.
    public let opened: OpenedContent
    /// Whether the same message was shown before, under the same identifier. It replaces itself, silently.
    public let isRepeat: Bool

    public var title: String
    public var subtitle: String
    public var body: String
    /// The number on the app's icon; 0 removes it, nil leaves it.
    public var badge: Int?
    public var sound: Content.Sound?
    public var threadID: String
    public var category: String
    public var interruptionLevel: Content.InterruptionLevel
    /// 0 to 1.
    public var relevanceScore: Double
    /// Files to show, in ascending ``DraftAttachment/position``; the first gives the thumbnail.
    public var attachments: [DraftAttachment]
    /// The app's own data, for the app and its content extension.
    public var data: JSONValue?

    package init(_ opened: OpenedContent, isRepeat: Bool) {
        let content = opened.content
        self.opened = opened
        self.isRepeat = isRepeat
        title = content.alert.title ?? ""
        subtitle = content.alert.subtitle ?? ""
        body = content.alert.body ?? ""
        badge = content.badge
        sound = content.sound
        threadID = content.threadID ?? ""
        category = content.category ?? ""
        interruptionLevel = content.interruptionLevel ?? .active
        relevanceScore = content.relevanceScore ?? 0
        attachments = []
        data = content.data
    }

    /// Whether it has come again more than a day after it was sent. A carrier could go on with that for as long as the message
    /// is believed, and have the phone fetch and post each time. Source: Specification 14.6, 16.7.
    func isLateRepeat(at now: Timestamp) -> Bool { isRepeat && now.seconds(since: opened.sent) > 86_400 }

    /// Whether a person would see any text. iOS shows the wire's own in place of none.
    var isVisible: Bool { [title, subtitle, body].contains(where: VisibleText.isVisible) }
}

/// A file that is shown with a notification.
public struct DraftAttachment: Hashable, Sendable {
    /// Unique in the notification.
    public var identifier: String
    /// A finished file, mostly from ``StageContext/scratchFile(named:)``. The system moves it away.
    public var file: URL
    /// The uniform type identifier, such as `public.png`; nil where the file's extension says it.
    public var type: String?
    public var thumbnail: AttachmentThumbnail?
    /// Where it came from: findable for a content extension as ``SealedNotification/attachmentURLs``.
    public var remoteURL: URL?
    /// Its place among the others.
    public var position: Int

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
