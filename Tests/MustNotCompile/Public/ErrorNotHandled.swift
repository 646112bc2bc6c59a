// error: errors thrown from here are not handled
import PushSender
import SealedPush

/// Who ignores that sealing failed, sends nothing.
func seal(_ content: Content, to device: VerifiedRecipient, with sealer: Sealer) {
    _ = try sealer.seal(content, to: device)  // refused
}
