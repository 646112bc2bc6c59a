// error: 'OpenedContent' initializer is inaccessible due to 'internal' protection level
import SealedPush

/// Only an opener makes opened content, so that it proves that a message opened.
func pretend(_ content: Content, after opened: OpenedContent) {
    _ = OpenedContent(  // refused
        content: content, id: opened.id, topic: opened.topic, sent: opened.sent, sender: opened.sender,  // refused
        recipient: opened.recipient, ledgerKey: [])  // refused
}
