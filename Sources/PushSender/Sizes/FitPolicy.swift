/// What happens to content that does not fit into one push.
public enum FitPolicy: String, Sendable, CaseIterable {
    /// Sealing fails and says by how many bytes it is too much.
    case error
    /// The body is cut between two graphemes, as a reader sees them, and an ellipsis is set behind it. Where even one
    /// grapheme would not fit, sealing fails.
    case truncate
}
