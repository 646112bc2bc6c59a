/// A reason why a receipt isn't counted. The codes are stable.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ReceiptError: String, Error, CaseIterable, Sendable {
    /// Not 128 bytes.
    case wrongSize = "wrong-size"
    /// A later version.
    case unknownVersion = "unknown-version"
    /// Not MACed under any of the keys: forged, altered, or for a sender that the receiver doesn't know.
    case rejected
    /// Created by a device, but not well-formed.
    case malformed
    /// Created more than 7 days ago.
    case tooOld = "too-old"
    /// Created in the future.
    case clock
}
