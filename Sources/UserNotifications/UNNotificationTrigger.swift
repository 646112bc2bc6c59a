public import Foundation

/// What lets a notification appear (Apple, UNNotificationTrigger).
public class UNNotificationTrigger: NSObject, NSCopying, NSSecureCoding {
    /// Whether the notification comes again.
    public let repeats: Bool

    init(repeats: Bool) {
        self.repeats = repeats
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationTrigger else { return false }
        return type(of: self) == type(of: other) && repeats == other.repeats
    }

    public override var hash: Int { repeats.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public class var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        repeats = coder.decodeBool(forKey: "repeats")
    }

    public func encode(with coder: NSCoder) {
        coder.encode(repeats, forKey: "repeats")
    }
}
