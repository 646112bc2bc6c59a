public import Foundation

/// The sound of a notification (Apple, UNNotificationSound).
public final class UNNotificationSound: NSObject, NSCopying, NSSecureCoding {
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

    public static var supportsSecureCoding: Bool { true }

    public convenience init?(coder: NSCoder) {
        let name = coder.decodeObject(of: NSString.self, forKey: "name").map(String.init(describing:))
        self.init(
            name.map(UNNotificationSoundName.init(rawValue:)),
            isCritical: coder.decodeBool(forKey: "isCritical"),
            isRingtone: coder.decodeBool(forKey: "isRingtone"),
            volume: coder.decodeObject(of: NSNumber.self, forKey: "volume")?.floatValue)
    }

    public func encode(with coder: NSCoder) {
        coder.encode(name.map { $0.rawValue as NSString }, forKey: "name")
        coder.encode(isCritical, forKey: "isCritical")
        coder.encode(isRingtone, forKey: "isRingtone")
        coder.encode(volume.map { NSNumber(value: $0) }, forKey: "volume")
    }
}
