import SealedPush

/// How many bytes of content fit into one push: an exact function of the clear part, known before anything is sealed.
///
/// Source: Specification 5. Apple's limit is 4,096 bytes for every push type that wakes an extension.
public struct SizePlan: Hashable, Sendable {
    /// Bytes of the payload that are not the envelope's text.
    public let clearByteCount: Int
    /// How much is sealed together with the content.
    public let padding: PaddingPolicy
    /// The most bytes that can be sealed, content and padding together: the same for all devices, whichever suite they have.
    public let maximumPlaintextByteCount: Int
    private let overheadByteCount: Int

    /// The most bytes of content JSON: one byte less, since padding has at least one.
    public var maximumContentByteCount: Int { maximumPlaintextByteCount - 1 }

    /// The most bytes APNs takes.
    public static let maximumPayloadByteCount = PayloadLimit.byteCount

    init(clearByteCount: Int, overheadByteCount: Int, padding: PaddingPolicy) {
        self.clearByteCount = clearByteCount
        self.padding = padding
        let envelopeByteCount = Base64URL.byteCount(fitting: Self.maximumPayloadByteCount - clearByteCount)
        maximumPlaintextByteCount = envelopeByteCount - overheadByteCount
        self.overheadByteCount = overheadByteCount
    }

    /// The plan of a payload that is so many bytes shorter.
    func leavingFree(_ reserve: Int) -> SizePlan {
        precondition((0...Sealer.maximumReserve).contains(reserve), "a reserve is 0 to 1024 bytes")
        return SizePlan(
            clearByteCount: clearByteCount + reserve, overheadByteCount: overheadByteCount, padding: padding)
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

/// What happens to content that does not fit into one push.
public enum FitPolicy: String, Sendable, CaseIterable {
    /// Sealing fails and says by how many bytes it is too much.
    case error
    /// The body is cut between two graphemes, as a reader sees them, and an ellipsis is set behind it. Where even one
    /// grapheme would not fit, sealing fails.
    case truncate
}

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

extension Content {
    /// The content with its body cut so that its JSON is `excess` bytes shorter or more; nil where that can't be done.
    func truncated(by excess: Int) -> Content? {
        guard let body = alert.body else { return nil }
        let ellipsis = "…"
        let budget = Self.escapedByteCount(of: body) - excess - ellipsis.utf8.count
        var end = body.startIndex
        var byteCount = 0
        while end < body.endIndex {
            byteCount += Self.escapedByteCount(of: body[end])
            guard byteCount <= budget else { break }
            body.formIndex(after: &end)
        }
        let kept = body[..<end]
        guard VisibleText.isVisible(String(kept)) else { return nil }
        var shorter = self
        shorter.alert.body = kept + ellipsis
        return shorter
    }

    private static func escapedByteCount(of text: some StringProtocol) -> Int {
        text.utf8.reduce(0) { $0 + JSONCharacters.escapedByteCount(of: $1) }
    }

    private static func escapedByteCount(of character: Character) -> Int {
        character.utf8.reduce(0) { $0 + JSONCharacters.escapedByteCount(of: $1) }
    }
}
