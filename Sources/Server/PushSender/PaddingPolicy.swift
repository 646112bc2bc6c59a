/// How much an observer learns about the content's length. Source: Specification 4.2.
public enum PaddingPolicy: String, Sendable, CaseIterable {
    /// Pads to 256, 512, 1,024, or 2,048 bytes (hybrid: 1,792), or to the maximum. An observer learns only which one.
    case buckets
    /// Pads to the maximum. An observer learns nothing.
    case full
    /// Adds one byte. An observer learns the exact length.
    case none
}
