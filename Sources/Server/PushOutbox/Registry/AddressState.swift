public import PushSender
public import SealedPush

/// Whether a device can be sent to.
public enum AddressState: Hashable, Sendable {
    /// The address, and when the app last registered it.
    case active(Address, registered: Timestamp)
    /// The address that the carrier has refused, with the reason. It isn't used until the app registers it again or an
    /// operator retries.
    case disabled(Address, registered: Timestamp, reason: String)
    /// No address was registered, or the carrier has reported that it is gone, with the reason.
    case none(Carrier, reason: String?)

    /// The carrier that delivers to the device.
    public var carrier: Carrier {
        switch self {
        case .active(let address, _), .disabled(let address, _, _): address.carrier
        case .none(let carrier, _): carrier
        }
    }

    /// The address, or `nil` if there is none.
    public var address: Address? {
        switch self {
        case .active(let address, _), .disabled(let address, _, _): address
        case .none: nil
        }
    }
}
