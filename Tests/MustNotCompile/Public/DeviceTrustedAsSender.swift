// error: to expected element type 'SenderPublicKey' (aka 'PublicKey<SenderRole>')
import SealedPush

/// A device's key and a sender's key are both 32 bytes.
func trust(_ device: DevicePublicKey) {
    _ = TrustedSenders([device])  // refused
}
