internal import Foundation

/// A text a person entered in a notification (Apple, UNTextInputNotificationResponse).
public final class UNTextInputNotificationResponse: UNNotificationResponse {
    /// The entered text.
    public let userText: String

    /// Makes the response a system hands to the delegate.
    package init(notification: UNNotification, actionIdentifier: String, userText: String) {
        self.userText = userText
        super.init(notification: notification, actionIdentifier: actionIdentifier)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNTextInputNotificationResponse else { return false }
        return super.isEqual(other) && userText == other.userText
    }
}
