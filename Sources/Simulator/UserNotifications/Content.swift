public import Foundation

/// What a notification shows; it never changes (Apple, UNNotificationContent).
///
/// Its properties are those of ``ContentValues``, by the names that Apple gives them. Two contents with the same values
/// are equal, whether one of them is mutable or not.
@dynamicMemberLookup
public class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
    /// Written by the mutable subclass only.
    fileprivate var values: ContentValues

    /// Makes empty content, with which an extension that may filter suppresses a notification.
    public override convenience init() { self.init(ContentValues()) }

    fileprivate init(_ values: ContentValues) { self.values = values }

    public subscript<Value>(dynamicMember property: KeyPath<ContentValues, Value>) -> Value {
        values[keyPath: property]
    }

    /// Returns an immutable content, also for a mutable receiver.
    public func copy(with zone: NSZone? = nil) -> Any { snapshot() }

    /// Returns a `UNMutableNotificationContent` of its own.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(values) }

    func snapshot() -> UNNotificationContent { self }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationContent else { return false }
        return values == other.values
    }

    public override var hash: Int { values.body.hashValue }
}

/// What can change a notification's content (Apple, UNNotificationContentProviding).
public protocol UNNotificationContentProviding: NSObjectProtocol {}

/// Who wrote a message, as the system was told.
package struct CommunicationSender: Equatable, Sendable {
    package let name: String
    package let conversation: String
    package let image: Data?

    package init(name: String, conversation: String, image: Data?) {
        self.name = name
        self.conversation = conversation
        self.image = image
    }
}

/// What names one.
protocol CommunicationProviding {
    var communication: CommunicationSender? { get }
}

extension UNNotificationContent {
    /// Returns this content as a message of the person whom the intent names, with their picture.
    public func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent {
        guard let sender = (provider as? any CommunicationProviding)?.communication else { return self }
        var values = values
        values.title = sender.name
        values.communication = sender
        return UNNotificationContent(values)
    }
}

/// What a notification shows, while it is being written (Apple, UNMutableNotificationContent).
///
/// A text is kept as it is set; the displaying system, not this class, treats printf escapes in `body`.
public final class UNMutableNotificationContent: UNNotificationContent {
    public subscript<Value>(dynamicMember property: WritableKeyPath<ContentValues, Value>) -> Value {
        get { values[keyPath: property] }
        set { values[keyPath: property] = newValue }
    }

    override func snapshot() -> UNNotificationContent { UNNotificationContent(values) }
}

/// The values of a content. Apple's two classes have these properties themselves.
public struct ContentValues: Equatable {
    /// The files shown with the notification.
    public var attachments: [UNNotificationAttachment] = []
    /// The number on the app's icon: nil leaves it, 0 removes it.
    public var badge: NSNumber?
    /// The main text, "" when absent.
    public var body = ""
    /// The identifier of the notification's category, "" when absent.
    public var categoryIdentifier = ""
    /// The launch image's name, "" when absent.
    public var launchImageName = ""
    /// The sound, nil for none.
    public var sound: UNNotificationSound?
    /// The second line, "" when absent.
    public var subtitle = ""
    /// The conversation that groups notifications, "" when absent.
    public var threadIdentifier = ""
    /// The first line, "" when absent.
    public var title = ""
    /// The whole payload of a remote notification, with "aps".
    public var userInfo: [AnyHashable: Any] = [:]
    /// The window that opens for the notification.
    public var targetContentIdentifier: String?
    /// How far the notification may interrupt.
    public var interruptionLevel = UNNotificationInterruptionLevel.active
    /// The rank in a summary, 0 to 1.
    public var relevanceScore = 0.0
    /// The value a Focus filters by.
    public var filterCriteria: String?
    /// Set by ``UNNotificationContent/updating(from:)`` alone.
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
