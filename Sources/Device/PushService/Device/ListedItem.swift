/// The part of an item that isn't secret.
package struct ListedItem: Equatable, Sendable {
    package let account: String
    /// JSON of a few hundred bytes; not secret.
    package let attributes: [UInt8]

    package init(account: String, attributes: [UInt8]) {
        self.account = account
        self.attributes = attributes
    }
}
