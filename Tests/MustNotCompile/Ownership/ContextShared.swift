// error: 'hpke' consumed more than once
import PushCore
import SealedPush

/// Two owners of a context could use the same number for two messages.
func share(_ hpke: consuming HPKEContext, to device: DevicePublicKey, from sender: SenderPublicKey) {
    let first = SealingContext(hpke, to: device, from: sender)
    let second = SealingContext(hpke, to: device, from: sender)  // refused
    _ = first.seal([])
    _ = second.seal([])  // refused
}
