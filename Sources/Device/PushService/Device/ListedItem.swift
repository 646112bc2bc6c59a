/// The part of an item that isn't secret.
package struct ListedItem: Equatable, Sendable {
    package let account: String
    /// JSON; not secret. A device's enrollment key has its record there, so it may have 12,000 bytes.
    package let attributes: [UInt8]

    package init(account: String, attributes: [UInt8]) {
        self.account = account
        self.attributes = attributes
    }
}
