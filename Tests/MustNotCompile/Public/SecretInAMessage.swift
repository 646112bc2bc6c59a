// error: cannot assign value of type 'SenderPrivateKey' (aka 'PrivateKey<SenderRole>') to type 'String'
import SealedPush

/// A secret isn't text, so that it can't become part of one.
func tell(_ secret: SenderPrivateKey, in content: inout Content) {
    content.alert.body = secret  // refused
}
