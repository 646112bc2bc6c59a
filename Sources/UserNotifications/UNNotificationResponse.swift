public import Foundation

/// What a person did with a notification (Apple, UNNotificationResponse).
public class UNNotificationResponse: NSObject, NSCopying {
    // NSSecureCoding is left out: nothing archives a response.

    /// The notification that was answered.
    public let notification: UNNotification
    /// The chosen action.
    public let actionIdentifier: String

    /// Makes the response a system hands to the delegate.
    package init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationResponse else { return false }
        return type(of: self) == type(of: other) && notification == other.notification
            && actionIdentifier == other.actionIdentifier
    }

    public override var hash: Int { actionIdentifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The action of opening the app from the notification (Apple, UNNotificationDefaultActionIdentifier).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationDefaultActionIdentifier: String = "com.apple.UNNotificationDefaultActionIdentifier"

/// The action of dismissing the notification (Apple, UNNotificationDismissActionIdentifier).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationDismissActionIdentifier: String = "com.apple.UNNotificationDismissActionIdentifier"
