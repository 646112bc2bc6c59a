/// A policy for content that doesn't fit into one push.
public enum FitPolicy: String, Sendable, CaseIterable {
    /// Sealing fails, and the error contains the number of excess bytes.
    case error
    /// The body is cut between two grapheme clusters and gets an ellipsis. Sealing fails if not even one grapheme fits.
    case truncate
}
