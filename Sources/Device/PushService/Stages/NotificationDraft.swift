internal import PushCore
public import SealedPush

/// The notification so far: the opened content, and what stages have changed in it.
///
/// A stage reads and sets each member of `Content` that is shown as the draft's own, such as
/// `draft.sound = nil`: the badge, the sound, the thread, the category, the level, the relevance, the data, and the person.
/// Setting any other member, such as the ID or the topic, has no effect, since these are taken from ``opened``.
@dynamicMemberLookup
public struct NotificationDraft: Sendable {
    /// The opened content, unchanged.
    public let opened: OpenedContent
    /// Whether the same message was shown before, under the same identifier. It replaces itself, silently.
    public let isRepeat: Bool
    /// The account to which the message belongs; nil in tests.
    var owner: Owner?
    /// The files to show, in ascending ``DraftAttachment/position``; the first provides the thumbnail.
    public var attachments: [DraftAttachment] = []
    /// Whether the notification interrupts, or is shown at all. Of several stages' values, the quietest counts.
    public var muting = Muting.none
    /// Whether the app can suppress notifications.
    let canBeSuppressed: Bool
    /// The app's rules for what the notification shows.
    let rules: DisclosureRules
    /// The sealed message, which the notification contains in place of what it doesn't show; nil if there is none.
    let envelope: String?
    /// The level that nothing can loosen: that of a message's first part, once the whole content has replaced it.
    private(set) var leastLevel = Content.Disclosure.full
    /// How the phone's own contacts know the person and the group's recipients, by their `id`; see ``ContactStage``.
    public var contacts: [String: Contact] = [:]
    /// The result of adding the content's increment to the device's own count.
    var badgeSum: BadgeCount.Sum?
    private var content: Content
    /// The last change of each member that a stage has set.
    private var changes: [any PartialKeyPath<Content> & Sendable: Change] = [:]

    package init(_ opened: OpenedContent, isRepeat: Bool) {
        self.init(opened, isRepeat: isRepeat, DisclosureRules(), envelope: nil, canBeSuppressed: false)
    }

    init(
        _ opened: OpenedContent, isRepeat: Bool, _ rules: DisclosureRules, envelope: String?, canBeSuppressed: Bool
    ) {
        self.canBeSuppressed = canBeSuppressed
        self.opened = opened
        self.isRepeat = isRepeat
        self.rules = rules
        self.envelope = envelope
        content = opened.content
    }

    /// Creates a draft of the whole content of a message whose first part is `draft`, and which shows no more than that.
    init(_ opened: OpenedContent, completing draft: NotificationDraft) {
        self.init(
            opened, isRepeat: draft.isRepeat, draft.rules, envelope: draft.envelope,
            canBeSuppressed: draft.canBeSuppressed)
        owner = draft.owner
        leastLevel = draft.shownLevel
        muting = draft.muting
    }

    /// Returns the draft with other content and no attachments.
    func replacingContent(with content: Content, at level: Content.Disclosure) -> NotificationDraft {
        var draft = self
        draft.content = content
        draft.attachments = []
        draft.leastLevel = level
        return draft
    }

    /// How much a notification interrupts, from as usual to not at all.
    public enum Muting: Comparable, Sendable {
        /// As the content says.
        case none
        /// In the list, without sound, and without lighting up the screen. The badge is set as usual.
        case quiet
        /// Not shown, and not counted on the badge. Needs ``ServiceConfiguration/hasFilteringEntitlement``; without it, the
        /// same as ``quiet``.
        case suppressed
    }

    /// Whether the system is asked to show nothing.
    var isSuppressed: Bool { canBeSuppressed && muting == .suppressed }

    /// A member of the content, as stages have changed it.
    public subscript<Value: Equatable & Sendable>(
        dynamicMember member: any WritableKeyPath<Content, Value> & Sendable
    ) -> Value {
        get { content[keyPath: member] }
        set {
            content[keyPath: member] = newValue
            changes[member] = Change(of: member, to: newValue)
        }
    }

    /// The title; empty for none.
    public var title: String {
        get { self[dynamicMember: \.alert.title] ?? "" }
        set { self[dynamicMember: \.alert.title] = newValue }
    }

    /// The subtitle; empty for none.
    public var subtitle: String {
        get { self[dynamicMember: \.alert.subtitle] ?? "" }
        set { self[dynamicMember: \.alert.subtitle] = newValue }
    }

    /// The body; empty for none.
    public var body: String {
        get { self[dynamicMember: \.alert.body] ?? "" }
        set { self[dynamicMember: \.alert.body] = newValue }
    }

    /// The three texts. Each of them is changed on its own.
    public var alert: Content.Alert {
        get { content.alert }
        set { (title, subtitle, body) = (newValue.title ?? "", newValue.subtitle ?? "", newValue.body ?? "") }
    }

    /// Whether the message was repeated more than a day after it was sent. A carrier could repeat it for as long as
    /// the message is accepted, and make the phone fetch and post each time. Source: ContentParts 14.5;
    /// DeviceState 36.1.
    func isLateRepeat(at now: Timestamp) -> Bool { isRepeat && now.seconds(since: opened.sent) > 86_400 }

    /// Returns the draft with the attachments that are the pictures of the person and the group moved there. `read` returns
    /// an attachment's bytes, or nil if there are none. ContentParts 19.3.
    func withPictures(_ read: (DraftAttachment) -> [UInt8]?) -> NotificationDraft {
        var draft = self
        var used: [String] = []
        let types = [MediaType.png, .jpeg].map(\.typeIdentifier)
        func move(_ image: inout Content.Person.Image?) {
            guard case .attachment(let id)? = image else { return }
            let picture = attachments.first { $0.identifier.hasBytes(of: id) && types.contains($0.type ?? "") }
            image = picture.flatMap(read).map { .bytes($0) }
            used.append(id)
        }
        if var person = self.person {
            move(&person.image)
            draft.person = person
        }
        if var group = self.group {
            move(&group.image)
            draft.group = group
        }
        draft.attachments.removeAll { attachment in used.contains { attachment.identifier.hasBytes(of: $0) } }
        return draft
    }

    /// Reads a picture of at most 512 KiB.
    static func readPicture(_ attachment: DraftAttachment) -> [UInt8]? {
        let bytes = (try? DurableFiles.read(attachment.file, limit: maximumPictureByteCount + 1)) ?? []
        return (1...maximumPictureByteCount).contains(bytes.count) ? bytes : nil
    }

    private static let maximumPictureByteCount = 512 << 10
}

extension NotificationDraft {
    /// Takes over the members that differ between `given` and `returned`, and keeps the changes that others have made since.
    mutating func merge(_ returned: NotificationDraft, givenTo given: NotificationDraft) {
        guard returned.opened.ledgerKey == given.opened.ledgerKey else { return }
        guard !returned.replacesContent(of: given) else {
            // The content itself came later, so what was made of its first part no longer counts.
            self = returned
            return
        }
        let (before, level) = (alert, content.disclosure)
        for (member, change) in returned.changes where change.isNew(given.content) {
            change.make(&content)
            changes[member] = change
        }
        content.disclosure = max(level, content.disclosure)
        // If no text is visible, iOS shows the payload's own.
        if !content.alert.isVisible { alert = before }
        muting = max(muting, returned.muting)
        if returned.contacts != given.contacts { contacts.merge(returned.contacts) { _, new in new } }
        mergeAttachments(returned, givenTo: given)
    }

    /// A member's value, set by a stage.
    private struct Change: Sendable {
        let make: @Sendable (inout Content) -> Void
        /// Whether the content has another value.
        let isNew: @Sendable (Content) -> Bool

        init<Value: Equatable & Sendable>(of member: any WritableKeyPath<Content, Value> & Sendable, to value: Value) {
            make = { $0[keyPath: member] = value }
            isNew = { content in
                let old = content[keyPath: member]
                guard Value.self == String?.self else { return old != value }
                // Texts are compared byte by byte; no text is as good as an empty one.
                return !(value as? String ?? "").hasBytes(of: old as? String ?? "")
            }
        }
    }

    /// Only ``OverflowStage`` replaces a message's content.
    private func replacesContent(of given: NotificationDraft) -> Bool {
        opened.content.overflow != given.opened.content.overflow
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
