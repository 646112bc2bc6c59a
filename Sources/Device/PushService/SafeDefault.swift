import SealedPush

/// The notification that the user sees whenever opening fails, the same for every cause. Fixed at build time and
/// translated in the extension's bundle, so it contains nothing from the wire.
public struct SafeDefault: Hashable, Sendable {
    /// The notification's title; may be empty if the body is visible.
    public let title: String
    /// The notification's body; may be empty if the title is visible.
    public let body: String
    /// Whether the default sound plays.
    public let playsSound: Bool

    /// Creates a safe default. Stops the program unless the title or body is visible, because iOS shows the payload's own
    /// text in place of an empty one.
    public init(title: String = "", body: String, playsSound: Bool = true) {
        precondition(
            VisibleText.isVisible(title) || VisibleText.isVisible(body),
            "a safe default needs a visible title or body")
        self.title = title
        self.body = body
        self.playsSound = playsSound
    }
}
