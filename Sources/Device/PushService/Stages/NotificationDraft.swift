public import Foundation
internal import PushCore
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
    /// What is added to the number that the device has counted, unless there is a ``badge``.
    public var badgeIncrement: Int?
    /// What has come of that.
    var badgeSum: BadgeCount.Sum?
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
    /// Who wrote it; nil in anonymous messages.
    public var person: Content.Person?

    package init(_ opened: OpenedContent, isRepeat: Bool) {
        let content = opened.content
        self.opened = opened
        self.isRepeat = isRepeat
        title = content.alert.title ?? ""
        subtitle = content.alert.subtitle ?? ""
        body = content.alert.body ?? ""
        badge = content.badge
        badgeIncrement = content.badgeIncrement
        sound = content.sound
        threadID = content.threadID ?? ""
        category = content.category ?? ""
        interruptionLevel = content.interruptionLevel ?? .active
        relevanceScore = content.relevanceScore ?? 0
        attachments = []
        data = content.data
        person = content.person
    }

    /// Whether it has come again more than a day after it was sent. A carrier could go on with that for as long as the message
    /// is believed, and have the phone fetch and post each time. Source: Specification 14.6, 16.7.
    func isLateRepeat(at now: Timestamp) -> Bool { isRepeat && now.seconds(since: opened.sent) > 86_400 }

    /// With the attachment that is the person's picture in its place, and no longer among the others. Specification 19.3.
    ///
    /// - Parameter read: returns the picture's file; nil if there is none.
    func withPicture(_ read: (DraftAttachment) -> [UInt8]?) -> NotificationDraft {
        guard case .attachment(let id)? = person?.image else { return self }
        var draft = self
        let types = [MediaType.png, .jpeg].map(\.typeIdentifier)
        let picture = attachments.first { $0.identifier == id && types.contains($0.type ?? "") }
        draft.person?.image = picture.flatMap(read).map { .bytes($0) }
        draft.attachments.removeAll { $0.identifier == id }
        return draft
    }

    /// Reads a picture of at most 512 KiB.
    static func readPicture(_ attachment: DraftAttachment) -> [UInt8]? {
        let bytes = (try? DurableFiles.read(attachment.file, limit: maximumPictureByteCount + 1)) ?? []
        return (1...maximumPictureByteCount).contains(bytes.count) ? bytes : nil
    }

    private static let maximumPictureByteCount = 512 << 10

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

extension NotificationDraft {
    /// Takes over what differs between `given` and `returned`, and leaves alone what others have changed since.
    mutating func merge(_ returned: NotificationDraft, givenTo given: NotificationDraft) {
        guard returned.opened.ledgerKey == given.opened.ledgerKey else { return }
        guard !returned.replacesContent(of: given) else {
            // The content itself came later: what was made of the first part of it no longer counts.
            self = returned
            return
        }
        let before = self
        take(\.title, from: returned, unlessAs: given)
        take(\.subtitle, from: returned, unlessAs: given)
        take(\.body, from: returned, unlessAs: given)
        if !isVisible { (title, subtitle, body) = (before.title, before.subtitle, before.body) }
        take(\.badge, from: returned, unlessAs: given)
        take(\.badgeIncrement, from: returned, unlessAs: given)
        take(\.sound, from: returned, unlessAs: given)
        take(\.threadID, from: returned, unlessAs: given)
        take(\.category, from: returned, unlessAs: given)
        take(\.interruptionLevel, from: returned, unlessAs: given)
        take(\.relevanceScore, from: returned, unlessAs: given)
        take(\.data, from: returned, unlessAs: given)
        take(\.person, from: returned, unlessAs: given)
        mergeAttachments(returned, givenTo: given)
    }

    private func replacesContent(of given: NotificationDraft) -> Bool { opened.content != given.opened.content }

    private mutating func take<Value: Equatable>(
        _ field: WritableKeyPath<NotificationDraft, Value>, from returned: NotificationDraft,
        unlessAs given: NotificationDraft
    ) {
        if returned[keyPath: field] != given[keyPath: field] { self[keyPath: field] = returned[keyPath: field] }
    }

    /// Identifiers are unique: of two attachments with one, the later stays.
    private mutating func mergeAttachments(_ returned: NotificationDraft, givenTo given: NotificationDraft) {
        let gone = Set(given.attachments.map(\.identifier)).subtracting(returned.attachments.map(\.identifier))
        let new = returned.attachments.filter { !given.attachments.contains($0) }
        let replaced = gone.union(new.map(\.identifier))
        let merged = attachments.filter { !replaced.contains($0.identifier) } + new
        // A stable sort: those at one place stay as they came.
        attachments = merged.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }
}
