public import Foundation

/// An extension that may change a remote notification before it is shown (Apple, UNNotificationServiceExtension).
///
/// As with Apple's class, neither it nor its content handler is `Sendable`, so code that compiles here compiles there.
open class UNNotificationServiceExtension: NSObject {
    /// Creates an extension. The system may use one object for several requests, even at the same time.
    public override init() { super.init() }

    /// Receives a request and passes the content to show to the handler; by default, the content it received.
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// Called on another thread when about 30 seconds have passed. The default implementation does nothing.
    open func serviceExtensionTimeWillExpire() {}
}

/// A notification to show, and its trigger (Apple, UNNotificationRequest).
public final class UNNotificationRequest: NSObject, NSCopying {
    /// The identifier: the `apns-collapse-id` of a remote notification, or one chosen by the system.
    public let identifier: String
    /// An immutable copy of the content that the request was created with.
    public let content: UNNotificationContent
    /// The trigger: `UNPushNotificationTrigger` for a remote notification, nil to show it immediately.
    public let trigger: UNNotificationTrigger?

    /// Creates a request. Later changes to `content` don't affect it.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.snapshot()
        self.trigger = trigger
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationRequest else { return false }
        return identifier == other.identifier && content == other.content && trigger == other.trigger
    }

    public override var hash: Int { identifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The event that makes a notification appear (Apple, UNNotificationTrigger).
public class UNNotificationTrigger: NSObject, NSCopying {
    /// Whether the notification repeats.
    public let repeats: Bool

    init(repeats: Bool) { self.repeats = repeats }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationTrigger else { return false }
        return type(of: self) == type(of: other) && repeats == other.repeats
    }

    public override var hash: Int { repeats.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The trigger of every remote notification; only the system creates one (Apple, UNPushNotificationTrigger).
public final class UNPushNotificationTrigger: UNNotificationTrigger {
    /// Creates the trigger of a request that arrived through APNs.
    package init() { super.init(repeats: false) }
}

/// A notification that was delivered (Apple, UNNotification).
public final class UNNotification: NSObject, NSCopying {
    /// The time of delivery.
    public let date: Date
    /// The request that it came from.
    public let request: UNNotificationRequest

    /// Creates a notification that was delivered at `date`.
    package init(request: UNNotificationRequest, date: Date) {
        self.request = request
        self.date = date
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A person's response to a notification (Apple, UNNotificationResponse).
public final class UNNotificationResponse: NSObject, NSCopying {
    /// The notification that the person responded to.
    public let notification: UNNotification
    /// The chosen action.
    public let actionIdentifier: String

    /// Creates the response that the system passes to the delegate.
    package init(notification: UNNotification, actionIdentifier: String) {
        self.notification = notification
        self.actionIdentifier = actionIdentifier
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The action of opening the app from the notification (Apple, UNNotificationDefaultActionIdentifier).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationDefaultActionIdentifier: String = "com.apple.UNNotificationDefaultActionIdentifier"

/// The action of dismissing the notification (Apple, UNNotificationDismissActionIdentifier).
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationDismissActionIdentifier: String = "com.apple.UNNotificationDismissActionIdentifier"
