internal import PushCore
internal import SealedPush

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

/// A secret's bytes, in guarded memory that is wiped with the last reference; never printed.
package final class ItemSecret: Sendable, CustomStringConvertible {
    private let bytes: GuardedSecret

    /// - Parameter bytes: 1 to 65,536 bytes; the caller wipes its own copy.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.bytes = GuardedSecret(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    package func withBytes<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try bytes.withBytes(body)
    }

    package var description: String { "ItemSecret" }
}

/// Why a call to ``SecretItems`` did nothing.
package enum SecretItemError: Error, Equatable, Sendable {
    case duplicate
    /// The item doesn't exist, or has changed.
    case notFound
    /// The device hasn't been unlocked since it started.
    case locked
    /// Any other error, with the system's code.
    case other(Int32)
}
