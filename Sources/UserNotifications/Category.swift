public import Foundation

/// A kind of notification the app declares, with its actions (Apple, UNNotificationCategory).
public final class UNNotificationCategory: NSObject, NSCopying {
    /// The identifier a notification's content names.
    public let identifier: String
    /// The buttons, in their order.
    public let actions: [UNNotificationAction]
    /// The intents related to the notifications.
    public let intentIdentifiers: [String]
    /// How the notifications are handled.
    public let options: UNNotificationCategoryOptions

    private init(
        _ identifier: String, _ actions: [UNNotificationAction], _ intentIdentifiers: [String],
        _ options: UNNotificationCategoryOptions
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.options = options
    }

    /// Makes a category.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.init(identifier, actions, intentIdentifiers, options)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationCategory else { return false }
        return identifier == other.identifier && actions == other.actions
            && intentIdentifiers == other.intentIdentifiers && options == other.options
    }

    public override var hash: Int { identifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// How the notifications of a category are handled (Apple, UNNotificationCategoryOptions).
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Dismissing is a response, too.
    public static var customDismissAction: UNNotificationCategoryOptions { .init(rawValue: 1 << 0) }
}

/// A button of a notification (Apple, UNNotificationAction).
public class UNNotificationAction: NSObject, NSCopying {
    /// The identifier a response carries.
    public let identifier: String
    /// The button's text.
    public let title: String
    /// How the button behaves.
    public let options: UNNotificationActionOptions

    init(_ identifier: String, _ title: String, _ options: UNNotificationActionOptions) {
        self.identifier = identifier
        self.title = title
        self.options = options
    }

    /// Makes an action.
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.init(identifier, title, options)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationAction else { return false }
        return type(of: self) == type(of: other) && identifier == other.identifier && title == other.title
            && options == other.options
    }

    public override var hash: Int { identifier.hashValue }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// How an action behaves (Apple, UNNotificationActionOptions).
public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Only on an unlocked device.
    public static var authenticationRequired: UNNotificationActionOptions { .init(rawValue: 1 << 0) }
    /// Shown as destructive.
    public static var destructive: UNNotificationActionOptions { .init(rawValue: 1 << 1) }
    /// Opens the app.
    public static var foreground: UNNotificationActionOptions { .init(rawValue: 1 << 2) }
}

/// A button that asks for a text (Apple, UNTextInputNotificationAction).
public final class UNTextInputNotificationAction: UNNotificationAction {
    /// The text of the button that sends the input.
    public let textInputButtonTitle: String
    /// What the empty field shows.
    public let textInputPlaceholder: String

    /// Makes an action.
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
        textInputPlaceholder: String
    ) {
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
        super.init(identifier, title, options)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNTextInputNotificationAction else { return false }
        return super.isEqual(other) && textInputButtonTitle == other.textInputButtonTitle
            && textInputPlaceholder == other.textInputPlaceholder
    }
}
