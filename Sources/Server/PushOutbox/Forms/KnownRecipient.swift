package import SealedPush

/// A device's key and its text.
package final class KnownRecipient: Sendable {
    package let key: DevicePublicKey
    let text: String

    package init(key: DevicePublicKey) {
        self.key = key
        text = key.description
    }
}
