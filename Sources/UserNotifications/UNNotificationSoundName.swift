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
