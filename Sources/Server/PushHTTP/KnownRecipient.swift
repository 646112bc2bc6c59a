internal import SealedPush

/// A device's key and its text.
final class KnownRecipient: Sendable {
    let key: DevicePublicKey
    let text: String

    init(key: DevicePublicKey) {
        self.key = key
        text = key.description
    }
}
