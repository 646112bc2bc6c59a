internal import PushCore

/// A device's store for small secrets, each under a name: Apple's keychain, or memory. The boundary between the life of
/// keys, which is the same everywhere, and the system. Called from several threads and processes at once. Each call is
/// atomic, a series of calls isn't, and a process may be killed between them.
package protocol SecretItems: Sendable {
    /// Returns the names and attributes of the items, without their secrets. An item added or removed meanwhile may be
    /// missing, because Apple doesn't promise that a listing is consistent. Before the device's first unlock, this may
    /// throw `locked` or leave out some or all items; the system promises neither. Use ``all()`` if no item may be missing.
    func list() throws(SecretItemError) -> [ListedItem]

    /// Returns an item's secret. Throws `notFound` if there is no item with this name, and `locked` before the first unlock.
    func secret(account: String) throws(SecretItemError) -> ItemSecret

    /// Adds an item. Throws `duplicate` if its name is in use. Can't succeed before the first unlock, because the system
    /// encrypts with a key that is locked until then.
    func add(_ item: SecretItem) throws(SecretItemError)

    /// Replaces an item's attributes. Throws `notFound` if it's gone or another process has changed it since it was read.
    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError)

    /// Destroys the item with this name, regardless of its attributes. Throws `notFound` if there is none.
    func remove(account: String) throws(SecretItemError)
}

extension SecretItems {
    /// Returns every item that exists, or throws `locked` before the first unlock. Costs two listings and one read of a
    /// secret, plus two writes if no secret can be read.
    func all() throws(SecretItemError) -> [ListedItem] {
        try proveUnlocked(list())
        // From the first unlock until the device restarts, no item is hidden.
        return try list()
    }

    /// Returns if the device has been unlocked. The listing can't prove that, because a locked one may be empty. Reading
    /// a secret or adding an item can: both need the key of the items' class, which is locked until then.
    private func proveUnlocked(_ listed: [ListedItem]) throws(SecretItemError) {
        for item in listed {
            do throws(SecretItemError) {
                _ = try secret(account: item.account)
                return
            } catch {
                // Another process has removed it.
                guard error == .notFound else { throw error }
            }
        }
        // Exists only for a moment; one that a killed process left behind can't open messages.
        let name = "probe " + Hex.encode(SecureRandom.bytes(count: 16))
        let secret = [0 as UInt8].withUnsafeBytes { ItemSecret(copying: $0) }
        try add(SecretItem(account: name, attributes: Array("{}".utf8), secret: secret))
        try remove(account: name)
    }
}
