/// The sealed content: the text, and everything else that a person or the app gets to see.
///
/// The keys follow Apple's `aps` dictionary wherever it has an equivalent. `id`, `topic`, and `sent` may be omitted; the
/// sealer then fills them in. Source: Specification 4.
public struct Content: Hashable, Sendable {
    /// The message's ID; if nil, a random one.
    public var id: MessageID?
    /// The app; if nil, the sealer's topic.
    public var topic: Topic?
    /// The time of sealing; if nil, now.
    public var sent: Timestamp?
    /// The time after which (plus ten minutes) the safe default is shown instead, and a shown notification is removed as soon
    /// as the app or the next push runs.
    public var expires: Timestamp?
    /// A string that messages share if they replace one another on the screen: 1 to 64 bytes of UTF-8.
    public var collapseID: String?
    /// The text. At least one of its three parts must be visible, unless there is a ``withdrawal``.
    public var alert: Alert
    /// The number on the app's icon, 0 to 2,147,483,647; 0 removes it, nil leaves it unchanged.
    public var badge: Int?
    /// The amount to add to the count that the device keeps (`BadgeCount` of PushService): 1 to 99, without ``badge``.
    /// Source: ContentParts 20.
    public var badgeIncrement: Int?
    /// The sound to play; nil for none.
    public var sound: Sound?
    /// A string by which notifications are grouped on the screen.
    public var threadID: String?
    /// The app's notification category, which determines the actions.
    public var category: String?
    /// How urgently the system presents the message; nil for the system's default.
    public var interruptionLevel: InterruptionLevel?
    /// The message's rank in the notification summary, 0 to 1.
    public var relevanceScore: Double?
    /// The text by which a person's Focus lets the message through or not, as the app's Focus filter defines it. Ignored in
    /// anonymous messages.
    public var filterCriteria: String?
    /// The identifier of the window that a tap brings to the front.
    public var targetContentID: String?
    /// Any data for the app itself.
    public var data: JSONValue?
    /// Pictures, sounds, and movies in display order; at most 16, each with its own ID. In opened content, only those that
    /// could be read; if several have the same ID, only the first. An unreadable attachment is dropped without affecting
    /// the text. Source: ContentParts 14.
    public var attachments: [Attachment] = []
    /// The location of the whole content, if this is only its first part: see ``Overflow``.
    public var overflow: Overflow?
    /// A chart for the device to draw. In opened content, also nil if this version can't read the value. Sealing throws
    /// ``ContentError/invalid(_:)`` for a chart that breaks a limit of ``PushChart``.
    public var chart: PushChart?
    /// The person who wrote the message. In opened content, also nil if this version can't read the value.
    public var person: Person?
    /// The group in which the ``person`` wrote. In opened content, also nil if this version can't read the value.
    public var group: Group?
    /// The notifications that this content removes. Such content doesn't show anything.
    public var withdrawal: Withdrawal?
    /// The sender's request for a receipt once the message has been shown; a sealer adds it. In opened content, also nil if
    /// it can't be read: only the receipt is lost, never the text. Source: ContentParts 16.1.
    public var receipt: ReceiptRequest?
    /// Whether `{{name}}` in title, subtitle, and body stands for a value only the device knows. Source: ContentParts 17.
    /// False unless the sender sets it: the text of any other message is shown as is, including its braces.
    public var isTemplate = false
    /// How much of the message its notification may show; the app's own rules can only show less. In opened content, the
    /// strictest level if this version can't read the value. Source: ContentParts 26.
    public var disclosure = Disclosure.full
    /// Members that this version doesn't know; kept for the app.
    public var other: [String: JSONValue]

    /// Creates content from its text and the app's data. Set other properties afterward.
    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil, data: JSONValue? = nil) {
        alert = Alert(title: title, subtitle: subtitle, body: body)
        self.data = data
        other = [:]
    }

    /// The text, as in `aps.alert`.
    public struct Alert: Hashable, Sendable {
        /// The first line.
        public var title: String?
        /// The second line.
        public var subtitle: String?
        /// The text below them.
        public var body: String?
        /// The title's name in the app's own language files; nil if the title is shown as it is.
        public var titleTranslation: Translation?
        /// The subtitle's name in the app's own language files; nil if the subtitle is shown as it is.
        public var subtitleTranslation: Translation?
        /// The body's name in the app's own language files; nil if the body is shown as it is.
        public var bodyTranslation: Translation?

        /// Creates a text from its parts.
        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
        }

        /// Whether a person would see anything: a scalar that isn't white space, a control character, or ignorable.
        public var isVisible: Bool {
            func isVisible(_ part: String?) -> Bool { part.map(VisibleText.isVisible) ?? false }
            return isVisible(title) || isVisible(subtitle) || isVisible(body)
        }
    }

    /// A sound, as in `aps.sound`.
    public enum Sound: Hashable, Sendable {
        /// A file name, or `default`.
        case named(String)
        /// A critical alert's sound; the volume is 0 to 1.
        case critical(name: String, volume: Double)
    }

    /// The interruption level, as in `aps.interruption-level`, from the quietest to the loudest.
    public enum InterruptionLevel: String, Sendable, CaseIterable {
        /// Added to the list without lighting up the screen.
        case passive
        /// Shown at once; the default.
        case active
        /// Shown during Focus, if the app has the entitlement.
        case timeSensitive = "time-sensitive"
        /// Plays a sound even if the phone is muted, if the app has Apple's entitlement.
        case critical
    }

    /// The size of the largest content that is read, in bytes; larger content doesn't fit into an envelope.
    package static let maximumByteCount = PayloadLimit.byteCount
    /// The size of the largest content that a tool reads for sealing: more than fits in a push, since it may be cut.
    package static let maximumUnsealedByteCount = 1 << 20

    /// Whether the content has expired. The most common cause is a lifetime in place of a time.
    package func isExpired(at now: Timestamp) -> Bool { expires.map { $0 < now } ?? false }

    package static let momentRule = "whole seconds since 1970, not milliseconds or a lifetime"
}
