public import Foundation

/// A notification that is to be shown, and what triggers it (Apple, UNNotificationRequest).
public final class UNNotificationRequest: NSObject, NSCopying, NSSecureCoding {
    /// The identifier; for a remote notification its `apns-collapse-id`, else one chosen by the system.
    public let identifier: String
    /// An immutable copy of the content the request was made with.
    public let content: UNNotificationContent
    /// What triggers the notification: `UNPushNotificationTrigger` for a remote one, nil for "now".
    public let trigger: UNNotificationTrigger?

    private init(_ identifier: String, _ content: UNNotificationContent, _ trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.snapshot()
        self.trigger = trigger
    }

    /// Makes a request; later changes to `content` do not reach it.
    public convenience init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.init(identifier, content, trigger)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationRequest else { return false }
        return identifier == other.identifier && content == other.content && trigger == other.trigger
    }

    public override var hash: Int { identifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public static var supportsSecureCoding: Bool { true }

    public convenience init?(coder: NSCoder) {
        guard let identifier = coder.decodeObject(of: NSString.self, forKey: "identifier"),
            let content = coder.decodeObject(of: UNNotificationContent.self, forKey: "content")
        else { return nil }
        let trigger = coder.decodeObject(of: UNNotificationTrigger.self, forKey: "trigger")
        self.init(String(describing: identifier), content, trigger)
    }

    public func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: "identifier")
        coder.encode(content, forKey: "content")
        coder.encode(trigger, forKey: "trigger")
    }
}
