/// What is sealed: the text and everything else a person or the app gets to see.
///
/// The keys follow Apple's `aps` dictionary wherever that has one. `id`, `topic` and `sent` may be left out by who
/// seals: the sealer fills them in. Source: Specification 4.
public struct Content: Hashable, Sendable {
    /// The message's ID; random where nil.
    public var id: MessageID?
    /// The app; the sealer's topic where nil.
    public var topic: Topic?
    /// When it was sealed; now where nil.
    public var sent: Timestamp?
    /// After this moment (and ten minutes more) the safe default is shown in its place.
    public var expires: Timestamp?
    /// Messages with the same string replace one another on the screen: 1 to 64 bytes of UTF-8.
    public var collapseID: String?
    /// The text; at least one of its three parts must be visible, unless there is a ``withdrawal``.
    public var alert: Alert
    /// The number on the app's icon, 0 to 2,147,483,647; 0 removes it, nil leaves it.
    public var badge: Int?
    /// The amount to add to the count that the device keeps (``BadgeCount`` of PushService): 1 to 99, without ``badge``.
    /// Source: Specification 20.
    public var badgeIncrement: Int?
    public var sound: Sound?
    /// What groups notifications on the screen.
    public var threadID: String?
    /// The app's notification category, which decides on actions.
    public var category: String?
    public var interruptionLevel: InterruptionLevel?
    /// 0 to 1.
    public var relevanceScore: Double?
    /// Anything the app itself wants to carry.
    public var data: JSONValue?
    /// Pictures, sounds and movies, in the order in which they are shown; at most 16, each under an ID of its own.
    ///
    /// On content that was opened: those that could be read, the first of those with one ID. One that can't be read costs
    /// itself, not the text. Source: Specification 14.
    public var attachments: [Attachment] = []
    /// Where the whole content is, when this is the first part of it: see ``Overflow``.
    public var overflow: Overflow?
    /// A chart for the device to draw; on content that was opened, nil also for one that this version can't read.
    ///
    /// Sealing throws ``ContentError/invalid(_:)`` for one that breaks a limit of ``PushChart``.
    public var chart: PushChart?
    /// The person who wrote the message. On content that was opened, nil also if this version can't read the value.
    public var person: Person?
    /// The notifications that this content removes: it then shows nothing.
    public var withdrawal: Withdrawal?
    /// What the sender asks for once this was shown; a sealer puts it in. On content that was opened, nil also for one that
    /// does not read: that costs the receipt, and never the text. Source: Specification 16.1.
    public var receipt: ReceiptRequest?
    /// Whether `{{name}}` in title, subtitle and body stands for a value that only the device knows. Source: Specification 17.
    ///
    /// False unless the sender says so: in any other message the text is shown as it is, braces and all.
    public var isTemplate = false
    /// What this version knows no key for; kept for the app.
    public var other: [String: JSONValue]

    public init(title: String? = nil, subtitle: String? = nil, body: String? = nil, data: JSONValue? = nil) {
        alert = Alert(title: title, subtitle: subtitle, body: body)
        self.data = data
        other = [:]
    }

    /// The text, as in `aps.alert`.
    public struct Alert: Hashable, Sendable {
        public var title: String?
        public var subtitle: String?
        public var body: String?

        public init(title: String? = nil, subtitle: String? = nil, body: String? = nil) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
        }

        /// Whether a person would see anything: some scalar that is no white space, control or ignorable.
        public var isVisible: Bool {
            func isVisible(_ part: String?) -> Bool { part.map(VisibleText.isVisible) ?? false }
            return isVisible(title) || isVisible(subtitle) || isVisible(body)
        }
    }

    /// As in `aps.sound`.
    public enum Sound: Hashable, Sendable {
        /// A file's name, or `default`.
        case named(String)
        /// A critical alert's sound; the volume is 0 to 1.
        case critical(name: String, volume: Double)
    }

    /// As in `aps.interruption-level`, from the quietest to the loudest.
    public enum InterruptionLevel: String, Sendable, CaseIterable {
        case passive
        case active
        case timeSensitive = "time-sensitive"
        case critical
    }

    /// The largest content that is read, in bytes: no envelope holds more.
    package static let maximumByteCount = PayloadLimit.byteCount
    /// The largest content that a tool reads in order to seal it: more than fits, as it may be cut.
    package static let maximumUnsealedByteCount = 1 << 20
}

/// Text that a person sees.
package enum VisibleText {
    /// A braille pattern without a dot: a symbol, by its properties, and nothing to see.
    private static let brailleBlank: Unicode.Scalar = "\u{2800}"

    package static func isVisible(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            if scalar.isASCII { return (0x21...0x7e).contains(scalar.value) }
            let properties = scalar.properties
            return !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
                && properties.generalCategory != .control && scalar != brailleBlank
        }
    }
}
