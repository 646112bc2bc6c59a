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

extension ReceiptError: CustomStringConvertible {
    /// One sentence for an operator.
    public var description: String {
        switch self {
        case .wrongSize: "a receipt has 128 bytes"
        case .unknownVersion: "the receipt was made by a later version; update the receiver"
        case .rejected: "the receipt was forged or altered, or it's for a sender that the receiver doesn't know"
        case .malformed: "a device made the receipt, but it isn't well-formed"
        case .tooOld: "the receipt was made more than 7 days ago"
        case .clock: "the receipt was made in the future; compare the clocks"
        }
    }
}
