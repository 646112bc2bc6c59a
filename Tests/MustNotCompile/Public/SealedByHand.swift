// error: 'SealedPayload' initializer is inaccessible due to 'internal' protection level
import PushSender
import SealedPush

/// A payload comes from a sealer, so that a message can't be sent in the clear by mistake.
func send(_ text: [UInt8], instead sealed: SealedPayload, with envelope: Envelope, _ alert: WireAlert) {
    _ = SealedPayload(  // refused
        json: text, recipient: sealed.recipient, topic: sealed.topic, apnsID: sealed.apnsID,  // refused
        collapseID: sealed.collapseID, messageID: sealed.messageID, expires: sealed.expires,  // refused
        envelope: envelope, isBackground: false, alert: alert)  // refused
}
