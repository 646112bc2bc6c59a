public import UserNotifications

/// A button of an expanded notification.
public struct ExpandedAction: Hashable, Sendable {
    public let identifier: String
    public let title: String
    /// Shown in red.
    public let isDestructive: Bool
    /// Done only once the device is unlocked.
    public let needsUnlock: Bool
    /// Opens the app.
    public let opensApp: Bool
    /// Where a person types something first.
    public let textInput: TextInput?

    public struct TextInput: Hashable, Sendable {
        /// The text of the button that sends it.
        public let button: String
        /// What the empty field shows.
        public let placeholder: String

        public init(button: String, placeholder: String = "") {
            self.button = button
            self.placeholder = placeholder
        }
    }

    /// - Parameter identifier: unique in its category.
    public init(
        _ identifier: String, title: String, isDestructive: Bool = false, needsUnlock: Bool = false,
        opensApp: Bool = false, textInput: TextInput? = nil
    ) {
        self.identifier = identifier
        self.title = title
        self.isDestructive = isDestructive
        self.needsUnlock = needsUnlock
        self.opensApp = opensApp
        self.textInput = textInput
    }

    /// As the system knows it.
    public var systemAction: UNNotificationAction {
        var options: UNNotificationActionOptions = []
        if isDestructive { options.insert(.destructive) }
        if needsUnlock { options.insert(.authenticationRequired) }
        if opensApp { options.insert(.foreground) }
        guard let textInput else {
            return UNNotificationAction(identifier: identifier, title: title, options: options)
        }
        return UNTextInputNotificationAction(
            identifier: identifier, title: title, options: options, textInputButtonTitle: textInput.button,
            textInputPlaceholder: textInput.placeholder)
    }
}

/// What a person chose, and typed.
public struct ExpandedResponse: Hashable, Sendable {
    public let action: String
    /// Nil where the action asks for none.
    public let text: String?

    public init(action: String, text: String? = nil) {
        self.action = action
        self.text = text
    }

    public init(_ response: UNNotificationResponse) {
        self.init(
            action: response.actionIdentifier, text: (response as? UNTextInputNotificationResponse)?.userText)
    }
}

extension ExpandedView {
    /// For `UNUserNotificationCenter.setNotificationCategories(_:)`, when the app starts: without it no button is shown.
    public var systemCategories: Set<UNNotificationCategory> {
        Set(
            categories.map { category in
                UNNotificationCategory(
                    identifier: category, actions: actions.map(\.systemAction), intentIdentifiers: [])
            })
    }
}
