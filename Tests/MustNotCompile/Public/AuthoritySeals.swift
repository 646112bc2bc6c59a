// error: to expected argument type 'SenderPrivateKey' (aka 'PrivateKey<SenderRole>')
import PushSender
import SealedPush

/// An authority only signs, so that its secret can be kept off the network.
func sealer(_ authority: AuthorityPrivateKey, _ topic: Topic) {
    _ = Sealer(sender: authority, topic: topic, safeDefault: "New message")  // refused
}
