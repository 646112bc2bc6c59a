// error: 'VerifiedRecipient' initializer is inaccessible due to 'package' protection level
import PushSender
import SealedPush

/// Only an enrolled device knows which of its keys is proven.
func verify(_ key: DevicePublicKey) {
    _ = VerifiedRecipient(key, keeps: nil)  // refused
}
