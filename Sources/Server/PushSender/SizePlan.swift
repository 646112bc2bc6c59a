/// The number of bytes of content that fit into one push. It depends only on the clear part, so it's known before sealing.
/// Apple's limit is 4,096 bytes for every push type that runs an extension. Source: Specification 5.
public struct SizePlan: Hashable, Sendable {
    /// The bytes of the payload outside the envelope's text.
    package let clearByteCount: Int
    /// The policy that decides how much padding is sealed together with the content.
    public let padding: PaddingPolicy
    /// The maximum number of bytes that can be sealed, including padding.
    package let maximumPlaintextByteCount: Int
    let suite: Envelope.Suite

    /// The maximum size of the content JSON: one byte less, because padding takes at least one.
    public var maximumContentByteCount: Int { maximumPlaintextByteCount - 1 }

    /// The maximum payload size that APNs accepts.
    public static let maximumPayloadByteCount = PayloadLimit.byteCount

    init(clearByteCount: Int, suite: Envelope.Suite, padding: PaddingPolicy) {
        self.clearByteCount = clearByteCount
        self.padding = padding
        let envelopeByteCount = Base64URL.byteCount(fitting: Self.maximumPayloadByteCount - clearByteCount)
        maximumPlaintextByteCount = envelopeByteCount - suite.overheadByteCount
        self.suite = suite
    }

    /// Returns a plan for a payload with this many fewer bytes.
    func leavingFree(_ reserve: Int) -> SizePlan {
        precondition((0...Sealer.maximumReserve).contains(reserve), "a reserve must be 0 to 1,024 bytes")
        return SizePlan(clearByteCount: clearByteCount + reserve, suite: suite, padding: padding)
    }

    /// Returns the number of bytes to seal for this much content, or nil if it doesn't fit.
    public func plaintextByteCount(forContent contentByteCount: Int) -> Int? {
        let minimum = contentByteCount + 1
        guard minimum <= maximumPlaintextByteCount else { return nil }
        switch padding {
        case .none: return minimum
        case .full: return maximumPlaintextByteCount
        case .buckets:
            let bucket = suite.bucketByteCounts.first { $0 >= minimum } ?? maximumPlaintextByteCount
            return min(bucket, maximumPlaintextByteCount)
        }
    }
}
