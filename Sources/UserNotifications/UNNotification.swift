public import Foundation

/// A notification that was delivered (Apple, UNNotification).
public final class UNNotification: NSObject, NSCopying {
    // NSSecureCoding is left out: nothing archives a delivered notification.

    /// When it was delivered.
    public let date: Date
    /// The request it came from.
    public let request: UNNotificationRequest

    /// Makes the notification a system delivered at `date`.
    package init(request: UNNotificationRequest, date: Date) {
        self.request = request
        self.date = date
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotification else { return false }
        return date == other.date && request == other.request
    }

    public override var hash: Int { request.hash }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}
