internal import PushCore
public import SealedPush

/// The notification so far: at first the opened content's own values, then as the stages change them.
public struct NotificationDraft: Sendable {
    /// The opened content, unchanged.
    public let opened: OpenedContent
    /// Whether the same message was shown before, under the same identifier. It replaces itself, silently.
    public let isRepeat: Bool

    /// The title; empty for none.
    public var title: String
    /// The subtitle; empty for none.
    public var subtitle: String
    /// The body; empty for none.
    public var body: String
    /// The number on the app's icon; 0 removes it, nil leaves it.
    public var badge: Int?
    /// The number to add to the device's own count, unless there is a ``badge``.
    public var badgeIncrement: Int?
    /// The result of that addition.
    var badgeSum: BadgeCount.Sum?
    /// The sound; nil for none.
    public var sound: Content.Sound?
    /// The identifier of the notification's thread; empty for none.
    public var threadID: String
    /// The identifier of the notification's category; empty for none.
    public var category: String
    /// The notification's importance, which determines how the system presents it.
    public var interruptionLevel: Content.InterruptionLevel
    /// The notification's relevance, from 0 to 1.
    public var relevanceScore: Double
    /// The files to show, in ascending ``DraftAttachment/position``; the first provides the thumbnail.
    public var attachments: [DraftAttachment]
    /// The app's own data, for the app and its content extension.
    public var data: JSONValue?
    /// The person who wrote the message; nil in anonymous messages.
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

    /// Whether the message was repeated more than a day after it was sent. A carrier could repeat it for as long as
    /// the message is accepted, and make the phone fetch and post each time. Source: Specification 14.6, 16.7.
    func isLateRepeat(at now: Timestamp) -> Bool { isRepeat && now.seconds(since: opened.sent) > 86_400 }

    /// Returns the draft with the attachment that is the person's picture moved into `person`. `read` returns its bytes, or
    /// nil if there are none. Specification 19.3.
    func withPicture(_ read: (DraftAttachment) -> [UInt8]?) -> NotificationDraft {
        guard case .attachment(let id)? = person?.image else { return self }
        var draft = self
        let types = [MediaType.png, .jpeg].map(\.typeIdentifier)
        let picture = attachments.first { $0.identifier.hasBytes(of: id) && types.contains($0.type ?? "") }
        draft.person?.image = picture.flatMap(read).map { .bytes($0) }
        draft.attachments.removeAll { $0.identifier.hasBytes(of: id) }
        return draft
    }

    /// Reads a picture of at most 512 KiB.
    static func readPicture(_ attachment: DraftAttachment) -> [UInt8]? {
        let bytes = (try? DurableFiles.read(attachment.file, limit: maximumPictureByteCount + 1)) ?? []
        return (1...maximumPictureByteCount).contains(bytes.count) ? bytes : nil
    }

    private static let maximumPictureByteCount = 512 << 10

    /// Whether any text is visible. If none is, iOS shows the payload's own.
    var isVisible: Bool { [title, subtitle, body].contains(where: VisibleText.isVisible) }
}

extension NotificationDraft {
    /// Takes over the fields that differ between `given` and `returned`, and keeps the changes that others have made since.
    mutating func merge(_ returned: NotificationDraft, givenTo given: NotificationDraft) {
        guard returned.opened.ledgerKey == given.opened.ledgerKey else { return }
        guard !returned.replacesContent(of: given) else {
            // The content itself came later, so what was made of its first part no longer counts.
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

    /// Only ``OverflowStage`` replaces a message's content.
    private func replacesContent(of given: NotificationDraft) -> Bool {
        opened.content.overflow != given.opened.content.overflow
    }

    private mutating func take(
        _ field: WritableKeyPath<NotificationDraft, String>, from returned: NotificationDraft,
        unlessAs given: NotificationDraft
    ) {
        let value = returned[keyPath: field]
        if !value.hasBytes(of: given[keyPath: field]) { self[keyPath: field] = value }
    }

    private mutating func take<Value: Equatable>(
        _ field: WritableKeyPath<NotificationDraft, Value>, from returned: NotificationDraft,
        unlessAs given: NotificationDraft
    ) {
        if returned[keyPath: field] != given[keyPath: field] { self[keyPath: field] = returned[keyPath: field] }
    }

    /// Identifiers are unique, so if two attachments have the same one, the later wins.
    private mutating func mergeAttachments(_ returned: NotificationDraft, givenTo given: NotificationDraft) {
        func name(_ attachment: DraftAttachment) -> [UInt8] { Array(attachment.identifier.utf8) }
        let gone = Set(given.attachments.map(name)).subtracting(returned.attachments.map(name))
        let new = returned.attachments.filter { !given.attachments.contains($0) }
        let replaced = gone.union(new.map(name))
        let merged = attachments.filter { !replaced.contains(name($0)) } + new
        // The sort is stable: attachments with equal positions keep their order.
        attachments = merged.enumerated().sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }
}
