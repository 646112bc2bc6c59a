package struct SecretItem: Sendable {
    package let account: String
    package let attributes: [UInt8]
    package let secret: ItemSecret

    package init(account: String, attributes: [UInt8], secret: ItemSecret) {
        self.account = account
        self.attributes = attributes
        self.secret = secret
    }

    package var listed: ListedItem { ListedItem(account: account, attributes: attributes) }
}
