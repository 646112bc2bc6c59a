public import Foundation

/// An extension that may change a remote notification before it is shown (Apple, UNNotificationServiceExtension).
///
/// As with Apple's class, neither it nor its content handler is `Sendable`: what compiles here compiles there.
open class UNNotificationServiceExtension: NSObject {
    /// Makes an extension; the system may use one object for several requests, even at once.
    public override init() { super.init() }

    /// Receives a request and answers with the content to show; this base class answers with what came.
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    /// Tells, on another thread, that about 30 seconds are over; this base class does nothing.
    open func serviceExtensionTimeWillExpire() {}
}

/// A notification that is to be shown, and what triggers it (Apple, UNNotificationRequest).
public final class UNNotificationRequest: NSObject, NSCopying {
    /// The identifier; for a remote notification its `apns-collapse-id`, else one chosen by the system.
    public let identifier: String
    /// An immutable copy of the content the request was made with.
    public let content: UNNotificationContent
    /// What triggers the notification: `UNPushNotificationTrigger` for a remote one, nil for "now".
    public let trigger: UNNotificationTrigger?

    /// Makes a request; later changes to `content` do not reach it.
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

/// What lets a notification appear (Apple, UNNotificationTrigger).
public class UNNotificationTrigger: NSObject, NSCopying {
    /// Whether the notification comes again.
    public let repeats: Bool

    init(repeats: Bool) { self.repeats = repeats }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationTrigger else { return false }
        return type(of: self) == type(of: other) && repeats == other.repeats
    }

    public override var hash: Int { repeats.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The trigger of every remote notification; only the system makes one (Apple, UNPushNotificationTrigger).
public final class UNPushNotificationTrigger: UNNotificationTrigger {
    /// Makes the trigger of a request that came through APNs.
    package init() { super.init(repeats: false) }
}

/// A notification that was delivered (Apple, UNNotification).
public final class UNNotification: NSObject, NSCopying {
    /// When it was delivered.
    public let date: Date
    /// The request it came from.
    public let request: UNNotificationRequest

    /// Makes the notification a system delivered at `date`.
    package init(request: UNNotificationRequest, date: Date) {
        self.request = request
        self.date = date
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// What a person did with a notification (Apple, UNNotificationResponse).
public final class UNNotificationResponse: NSObject, NSCopying {
    /// The notification that was answered.
    public let notification: UNNotification
    /// The chosen action.
    public let actionIdentifier: String

    /// Makes the response a system hands to the delegate.
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
