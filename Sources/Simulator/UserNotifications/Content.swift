public import Foundation

/// The immutable content of a notification (Apple, UNNotificationContent).
///
/// Its properties are those of ``ContentValues``, with the names that Apple gives them. Two content objects with the same
/// values are equal, even if one of them is mutable.
@dynamicMemberLookup
public class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
    /// Only the mutable subclass writes this.
    fileprivate var values: ContentValues

    /// Creates empty content. An extension with the filtering entitlement returns it to suppress a notification.
    public override convenience init() { self.init(ContentValues()) }

    fileprivate init(_ values: ContentValues) { self.values = values }

    public subscript<Value>(dynamicMember property: KeyPath<ContentValues, Value>) -> Value {
        values[keyPath: property]
    }

    /// Returns immutable content, even if the receiver is mutable.
    public func copy(with zone: NSZone? = nil) -> Any { snapshot() }

    /// Returns a mutable copy, a `UNMutableNotificationContent`.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(values) }

    func snapshot() -> UNNotificationContent { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationContent else { return false }
        return values == other.values
    }

    public override var hash: Int { values.body.hashValue }
}

/// A source of changes to a notification's content (Apple, UNNotificationContentProviding).
public protocol UNNotificationContentProviding: NSObjectProtocol {}

/// The author of a message, as reported to the system.
package struct CommunicationSender: Equatable, Sendable {
    package let name: String
    package let conversation: String
    package let image: Data?
    /// How the phone's contacts know the person: an identifier, a phone number, or an email address.
    package var contact: String?
    /// The group's name; nil for a message to one person.
    package var group: String?
    package var groupImage: Data?
    package var recipients: [String] = []
    /// The number of people in the conversation; the system shows a group's name only if it's above one.
    package var recipientCount = 0

    package init(name: String, conversation: String, image: Data?) {
        self.name = name
        self.conversation = conversation
        self.image = image
    }

    /// The picture that the system shows: of a group, its own.
    package var shownImage: Data? { group == nil ? image : groupImage ?? image }
}

/// A provider that identifies a message's author.
protocol CommunicationProviding {
    var communication: CommunicationSender? { get }
}

extension UNNotificationContent {
    /// Returns this content as a message from the person in the intent, with their picture.
    public func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent {
        guard let sender = (provider as? any CommunicationProviding)?.communication else { return self }
        var values = values
        values.title = sender.name
        if let group = sender.group, sender.recipientCount > 1 { values.subtitle = group }
        values.communication = sender
        return UNNotificationContent(values)
    }
}

/// The editable content of a notification (Apple, UNMutableNotificationContent).
///
/// Text is stored as set. The system that displays it, not this class, handles printf escapes in `body`.
public final class UNMutableNotificationContent: UNNotificationContent {
    public subscript<Value>(dynamicMember property: WritableKeyPath<ContentValues, Value>) -> Value {
        get { values[keyPath: property] }
        set { values[keyPath: property] = newValue }
    }

    override func snapshot() -> UNNotificationContent { UNNotificationContent(values) }
}

/// The values of a notification's content. On Apple's systems, they are properties of the two content classes.
public struct ContentValues: Equatable {
    /// The files shown with the notification.
    public var attachments: [UNNotificationAttachment] = []
    /// The number on the app's icon; nil leaves it unchanged, 0 removes it.
    public var badge: NSNumber?
    /// The main text; empty if absent.
    public var body = ""
    /// The identifier of the notification's category; empty if absent.
    public var categoryIdentifier = ""
    /// The launch image's name; empty if absent.
    public var launchImageName = ""
    /// The sound; nil for none.
    public var sound: UNNotificationSound?
    /// The second line; empty if absent.
    public var subtitle = ""
    /// The conversation that groups notifications; empty if absent.
    public var threadIdentifier = ""
    /// The first line; empty if absent.
    public var title = ""
    /// The whole payload of a remote notification, including `aps`.
    public var userInfo: [AnyHashable: Any] = [:]
    /// The window that opens for the notification.
    public var targetContentIdentifier: String?
    /// How much the notification may interrupt.
    public var interruptionLevel = UNNotificationInterruptionLevel.active
    /// The rank in a summary, from 0 to 1.
    public var relevanceScore = 0.0
    /// The value that a Focus filters by.
    public var filterCriteria: String?
    /// Set only by ``UNNotificationContent/updating(from:)``.
    package var communication: CommunicationSender?

    public static func == (one: ContentValues, other: ContentValues) -> Bool {
        one.texts == other.texts && one.attachments == other.attachments && one.badge == other.badge
            && one.sound == other.sound && one.interruptionLevel == other.interruptionLevel
            && one.relevanceScore == other.relevanceScore && one.communication == other.communication
            && NSDictionary(dictionary: one.userInfo).isEqual(to: other.userInfo)
    }

    private var texts: [String?] {
        [
            title, subtitle, body, categoryIdentifier, threadIdentifier, launchImageName, targetContentIdentifier,
            filterCriteria,
        ]
    }
}

/// How much a notification may interrupt (Apple, UNNotificationInterruptionLevel).
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Added to the list without lighting the screen or playing a sound.
    case passive = 0
    /// Shown immediately; the default.
    case active = 1
    /// Shown immediately, even during a Focus.
    case timeSensitive = 2
    /// Shown and heard even when the device is muted.
    case critical = 3
}

/// The sound of a notification (Apple, UNNotificationSound).
public final class UNNotificationSound: NSObject, NSCopying {
    /// The sound file's name; nil for the system's own sound.
    package let name: UNNotificationSoundName?
    /// Whether the sound plays even on a muted device.
    package let isCritical: Bool
    /// Whether the sound is a ringtone.
    package let isRingtone: Bool
    /// The volume of a critical sound, from 0 to 1; nil if unspecified.
    package let volume: Float?

    private init(
        _ name: UNNotificationSoundName?, isCritical: Bool = false, isRingtone: Bool = false, volume: Float? = nil
    ) {
        self.name = name
        self.isCritical = isCritical
        self.isRingtone = isRingtone
        // This comparison turns NaN into 0.
        self.volume = volume.map { $0 > 0 ? min($0, 1) : 0 }
    }

    /// The system's default sound.
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
