package import SealedPush

/// A message to record in the ledger.
package struct LedgerEntry: Sendable {
    /// 32 bytes.
    let key: [UInt8]
    let sent: Timestamp
    /// The identifier under which the system delivers the message.
    let requestIdentifier: String

    package init(key: [UInt8], sent: Timestamp, requestIdentifier: String) {
        (self.key, self.sent, self.requestIdentifier) = (key, sent, requestIdentifier)
    }
}
