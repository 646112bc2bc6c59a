import SealedPush

/// How many bytes of content fit into one push: an exact function of the clear part, known before anything is sealed.
///
/// Source: Specification 5. Apple's limit is 4,096 bytes for every push type that wakes an extension.
public struct SizePlan: Hashable, Sendable {
    /// Bytes of the payload that are not the envelope's text.
    public let clearByteCount: Int
    /// How much is sealed together with the content.
    public let padding: PaddingPolicy
    /// The most bytes that can be sealed, content and padding together.
    public let maximumPlaintextByteCount: Int

    /// The most bytes of content JSON: one byte less, since padding has at least one.
    public var maximumContentByteCount: Int { maximumPlaintextByteCount - 1 }

    /// The most bytes APNs takes.
    public static let maximumPayloadByteCount = 4_096

    init(clearByteCount: Int, suite: Envelope.Suite, padding: PaddingPolicy) {
        self.clearByteCount = clearByteCount
        self.padding = padding
        let envelopeByteCount = Base64URL.byteCount(fitting: Self.maximumPayloadByteCount - clearByteCount)
        maximumPlaintextByteCount = envelopeByteCount - suite.overheadByteCount
    }

    /// How many bytes are sealed for this much content; nil where it does not fit.
    public func plaintextByteCount(forContent contentByteCount: Int) -> Int? {
        let minimum = contentByteCount + 1
        guard minimum <= maximumPlaintextByteCount else { return nil }
        switch padding {
        case .none: return minimum
        case .full: return maximumPlaintextByteCount
        case .buckets:
            let bucket = PaddingPolicy.bucketByteCounts.first { $0 >= minimum } ?? maximumPlaintextByteCount
            return min(bucket, maximumPlaintextByteCount)
        }
    }
}
