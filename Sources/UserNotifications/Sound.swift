public import Foundation

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
    public convenience init(named name: UNNotificationSoundName) {
        self.init(name)
    }

    /// A sound file of the app as a ringtone.
    public class func ringtoneSoundNamed(_ name: UNNotificationSoundName) -> Self {
        Self(name, isRingtone: true)
    }

    /// A sound file of the app for a critical alert.
    public class func criticalSoundNamed(_ name: UNNotificationSoundName) -> Self {
        Self(name, isCritical: true)
    }

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

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}
