/// One row of an expanded notification.
public enum ExpandedRow: Hashable, Sendable {
    /// A row of text.
    case text(String)
    /// An image as wide as the view, or a player for sound and movies.
    case media(ExpandedNotification.Attachment)
}
