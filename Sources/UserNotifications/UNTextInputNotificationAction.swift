internal import Foundation

/// A button that asks for a text (Apple, UNTextInputNotificationAction).
public final class UNTextInputNotificationAction: UNNotificationAction {
    /// The text of the button that sends the input.
    public let textInputButtonTitle: String
    /// What the empty field shows.
    public let textInputPlaceholder: String

    /// Makes an action without an icon.
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [],
        textInputButtonTitle: String, textInputPlaceholder: String
    ) {
        self.init(
            identifier: identifier, title: title, options: options, icon: nil,
            textInputButtonTitle: textInputButtonTitle, textInputPlaceholder: textInputPlaceholder)
    }

    /// Makes an action with an icon.
    public init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], icon: UNNotificationActionIcon?,
        textInputButtonTitle: String, textInputPlaceholder: String
    ) {
        self.textInputButtonTitle = textInputButtonTitle
        self.textInputPlaceholder = textInputPlaceholder
        super.init(identifier, title, options, icon)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNTextInputNotificationAction else { return false }
        return super.isEqual(other) && textInputButtonTitle == other.textInputButtonTitle
            && textInputPlaceholder == other.textInputPlaceholder
    }
}
