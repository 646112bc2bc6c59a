/// How much an observer learns about the length of what was sealed. Source: Specification 4.2.
public enum PaddingPolicy: String, Sendable, CaseIterable {
    /// Up to 256, 512, 1,024 or 2,048 bytes, or all that fits: an observer learns which of these.
    case buckets
    /// Always all that fits: an observer learns nothing.
    case full
    /// One byte: an observer learns the exact length.
    case none

    package static let bucketByteCounts = [256, 512, 1_024, 2_048]
}
