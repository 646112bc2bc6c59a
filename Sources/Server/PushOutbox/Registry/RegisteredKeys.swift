public import PushSender
public import SealedPush

/// How a device's keys were established.
public enum RegisteredKeys: Hashable, Sendable {
    /// Through signed records and answered challenges.
    case enrolled(EnrolledDevice)
    /// Through the app's login alone, so the key is unverified. Used only if the sender explicitly includes such devices.
    case unverified(DevicePublicKey)

    /// The key that messages are sealed to, or nil if none is proven.
    package var recipient: DevicePublicKey? {
        switch self {
        case .enrolled(let device): device.newestProven
        case .unverified(let recipient): recipient
        }
    }
}
