public import Foundation

/// A button of a notification (Apple, UNNotificationAction).
public class UNNotificationAction: NSObject, NSCopying {
    // NSSecureCoding is left out: nothing archives an action.

    /// The identifier a response carries.
    public let identifier: String
    /// The button's text.
    public let title: String
    /// How the button behaves.
    public let options: UNNotificationActionOptions
    /// The button's icon.
    public let icon: UNNotificationActionIcon?

    init(
        _ identifier: String, _ title: String, _ options: UNNotificationActionOptions, _ icon: UNNotificationActionIcon?
    ) {
        self.identifier = identifier
        self.title = title
        self.options = options
        self.icon = icon
    }

    /// Makes an action without an icon.
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.init(identifier, title, options, nil)
    }

    /// Makes an action with an icon.
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?
    ) {
        self.init(identifier, title, options, icon)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationAction else { return false }
        return type(of: self) == type(of: other) && identifier == other.identifier && title == other.title
            && options == other.options && icon == other.icon
    }

    public override var hash: Int { identifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}
