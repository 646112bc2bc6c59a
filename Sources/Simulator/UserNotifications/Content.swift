public import Foundation

/// What a notification shows; it never changes (Apple, UNNotificationContent).
///
/// Two contents with the same values are equal, whether one of them is mutable or not.
public class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
    /// Written by the mutable subclass only.
    var fields: ContentFields

    /// Makes empty content, with which an extension that may filter suppresses a notification.
    public override init() {
        fields = ContentFields()
        super.init()
    }

    init(fields: ContentFields) {
        self.fields = fields
        super.init()
    }

    /// The files shown with the notification.
    public var attachments: [UNNotificationAttachment] { fields.attachments }
    /// The number on the app's icon: nil leaves it, 0 removes it.
    public var badge: NSNumber? { fields.badge }
    /// The main text, "" when absent.
    public var body: String { fields.body }
    /// The identifier of the notification's category, "" when absent.
    public var categoryIdentifier: String { fields.categoryIdentifier }
    /// The launch image's name, "" when absent.
    public var launchImageName: String { fields.launchImageName }
    /// The sound, nil for none.
    public var sound: UNNotificationSound? { fields.sound }
    /// The second line, "" when absent.
    public var subtitle: String { fields.subtitle }
    /// The conversation that groups notifications, "" when absent.
    public var threadIdentifier: String { fields.threadIdentifier }
    /// The first line, "" when absent.
    public var title: String { fields.title }
    /// The whole payload of a remote notification, with "aps".
    public var userInfo: [AnyHashable: Any] { fields.userInfo }
    /// The window that opens for the notification.
    public var targetContentIdentifier: String? { fields.targetContentIdentifier }
    /// How far the notification may interrupt.
    public var interruptionLevel: UNNotificationInterruptionLevel { fields.interruptionLevel }
    /// The rank in a summary, 0 to 1.
    public var relevanceScore: Double { fields.relevanceScore }
    /// The value a Focus filters by.
    public var filterCriteria: String? { fields.filterCriteria }

    /// Returns an immutable content, also for a mutable receiver.
    public func copy(with zone: NSZone? = nil) -> Any { snapshot() }

    /// Returns a `UNMutableNotificationContent` of its own.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(fields: fields) }

    func snapshot() -> UNNotificationContent { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationContent else { return false }
        return fields == other.fields
    }

    public override var hash: Int { fields.hashValue }

}

/// What a notification shows, while it is being written (Apple, UNMutableNotificationContent).
///
/// A text is kept as it is set; the displaying system, not this class, treats printf escapes in `body`.
public final class UNMutableNotificationContent: UNNotificationContent {
    public override var attachments: [UNNotificationAttachment] {
        get { fields.attachments }
        set { fields.attachments = newValue }
    }
    public override var badge: NSNumber? {
        get { fields.badge }
        set { fields.badge = newValue }
    }
    public override var body: String {
        get { fields.body }
        set { fields.body = newValue }
    }
    public override var categoryIdentifier: String {
        get { fields.categoryIdentifier }
        set { fields.categoryIdentifier = newValue }
    }
    public override var launchImageName: String {
        get { fields.launchImageName }
        set { fields.launchImageName = newValue }
    }
    public override var sound: UNNotificationSound? {
        get { fields.sound }
        set { fields.sound = newValue }
    }
    public override var subtitle: String {
        get { fields.subtitle }
        set { fields.subtitle = newValue }
    }
    public override var threadIdentifier: String {
        get { fields.threadIdentifier }
        set { fields.threadIdentifier = newValue }
    }
    public override var title: String {
        get { fields.title }
        set { fields.title = newValue }
    }
    public override var userInfo: [AnyHashable: Any] {
        get { fields.userInfo }
        set { fields.userInfo = newValue }
    }
    public override var targetContentIdentifier: String? {
        get { fields.targetContentIdentifier }
        set { fields.targetContentIdentifier = newValue }
    }
    public override var interruptionLevel: UNNotificationInterruptionLevel {
        get { fields.interruptionLevel }
        set { fields.interruptionLevel = newValue }
    }
    public override var relevanceScore: Double {
        get { fields.relevanceScore }
        set { fields.relevanceScore = newValue }
    }
    public override var filterCriteria: String? {
        get { fields.filterCriteria }
        set { fields.filterCriteria = newValue }
    }

    override func snapshot() -> UNNotificationContent { UNNotificationContent(fields: fields) }
}

/// How far a notification may interrupt (Apple, UNNotificationInterruptionLevel).
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Added to the list; neither the screen nor a sound.
    case passive = 0
    /// Shown at once; the default.
    case active = 1
    /// Shown at once, also during a Focus.
    case timeSensitive = 2
    /// Shown and heard even when the device is muted.
    case critical = 3
}

/// The values of a content, compared as one.
struct ContentFields {
    var attachments: [UNNotificationAttachment] = []
    var badge: NSNumber?
    var body = ""
    var categoryIdentifier = ""
    var launchImageName = ""
    var sound: UNNotificationSound?
    var subtitle = ""
    var threadIdentifier = ""
    var title = ""
    var userInfo: [AnyHashable: Any] = [:]
    var targetContentIdentifier: String?
    var interruptionLevel = UNNotificationInterruptionLevel.active
    var relevanceScore = 0.0
    var filterCriteria: String?
}

extension ContentFields: Hashable {
    static func == (one: ContentFields, other: ContentFields) -> Bool {
        one.texts == other.texts && one.attachments == other.attachments && one.badge == other.badge
            && one.sound == other.sound && one.interruptionLevel == other.interruptionLevel
            && one.relevanceScore == other.relevanceScore
            && NSDictionary(dictionary: one.userInfo).isEqual(to: other.userInfo)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(texts) }

    private var texts: [String?] {
        [
            title, subtitle, body, categoryIdentifier, threadIdentifier, launchImageName, targetContentIdentifier,
            filterCriteria,
        ]
    }
}

/// The sound of a notification (Apple, UNNotificationSound).
public final class UNNotificationSound: NSObject, NSCopying {
    /// The sound file's name; nil is the system's own sound.
    package let name: UNNotificationSoundName?
    /// Whether the sound is heard on a muted device.
    package let isCritical: Bool
    /// Whether the sound is a ringtone.
    package let isRingtone: Bool
    /// The volume of a critical sound, 0 to 1; nil when none was asked for.
    package let volume: Float?
    /// Whether the sound is the system's own, critical or not.
    package var isDefault: Bool { name == nil }

    private init(
        _ name: UNNotificationSoundName?, isCritical: Bool = false, isRingtone: Bool = false, volume: Float? = nil
    ) {
        self.name = name
        self.isCritical = isCritical
        self.isRingtone = isRingtone
        // Written so that NaN becomes 0.
        self.volume = volume.map { $0 > 0 ? min($0, 1) : 0 }
    }

    /// The system's sound.
    public class var `default`: UNNotificationSound { UNNotificationSound(nil) }

    /// The system's sound for a critical alert.
    public class var defaultCritical: UNNotificationSound { UNNotificationSound(nil, isCritical: true) }

    /// The person's ringtone.
    public class var defaultRingtone: UNNotificationSound { UNNotificationSound(nil, isRingtone: true) }

    /// The system's sound for a critical alert at a volume from 0 to 1.
    public class func defaultCriticalSound(withAudioVolume volume: Float) -> Self {
        Self(nil, isCritical: true, volume: volume)
    }

    /// A sound file of the app.
    public convenience init(named name: UNNotificationSoundName) { self.init(name) }

    /// A sound file of the app as a ringtone.
    public class func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> Self { Self(name, isRingtone: true) }

    /// A sound file of the app for a critical alert.
    public class func criticalSoundNamed(_ name: UNNotificationSoundName) -> Self { Self(name, isCritical: true) }

    /// A sound file of the app for a critical alert at a volume from 0 to 1.
    public class func criticalSoundNamed(_ name: UNNotificationSoundName, withAudioVolume volume: Float) -> Self {
        Self(name, isCritical: true, volume: volume)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationSound else { return false }
        return name == other.name && isCritical == other.isCritical && isRingtone == other.isRingtone
            && volume == other.volume
    }

    public override var hash: Int { name.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

}

/// The name of a sound file (Apple, UNNotificationSoundName).
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    public init(_ rawValue: String) { self.rawValue = rawValue }

    public init(rawValue: String) { self.rawValue = rawValue }
}
