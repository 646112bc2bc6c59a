internal import PushCore
internal import SealedPush

/// Where a device keeps small secrets, each under a name: Apple's keychain, or memory.
///
/// The seam between the life of keys, which is the same everywhere, and the system. Called from several threads and
/// processes at once. Each call is whole or not at all; two calls are never one, and a process may be killed between them.
package protocol SecretItems: Sendable {
    /// The names and attributes of the items, without a secret. An item that is added or removed meanwhile may be missing:
    /// that a listing shows one moment is more than Apple promises.
    ///
    /// Before the device's first unlock this may throw `locked`, and it may as well leave out some items or all: what a
    /// system does then is not promised. Where it matters that none is missing, ask ``all()``.
    func list() throws(SecretItemError) -> [ListedItem]

    /// The secret of the item with this name.
    ///
    /// - Throws: `notFound` where there is none; `locked` before the first unlock.
    func secret(account: String) throws(SecretItemError) -> ItemSecret

    /// Adds an item under a name that is free.
    ///
    /// Can't succeed before the first unlock, whatever else the system does: it encrypts with a key that is locked then.
    /// - Throws: `duplicate` where the name is not free.
    func add(_ item: SecretItem) throws(SecretItemError)

    /// Gives an item other attributes, if it still is what it was when it was read.
    ///
    /// - Throws: `notFound` where it is gone, or another process has changed it.
    func replace(_ item: ListedItem, attributes: [UInt8]) throws(SecretItemError)

    /// Destroys the item of this name, whatever its attributes are.
    ///
    /// - Throws: `notFound` where there is none.
    func remove(account: String) throws(SecretItemError)
}

extension SecretItems {
    /// Every item: what is not in it is not there. Two listings and a secret; where no secret can be read, two writes more.
    ///
    /// - Throws: `locked` before the first unlock.
    func all() throws(SecretItemError) -> [ListedItem] {
        try proveUnlocked(list())
        // From the first unlock on nothing is hidden any more, until the device is started again.
        return try list()
    }

    /// Returns if the device has been unlocked, which what was listed can't tell: an empty list may be a locked one.
    ///
    /// Either proof needs the key of the items' own class, which the system does not have before: a secret that could be
    /// read, or an item that could be added.
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
        // There for a moment only; one that a killed process has left opens nothing.
        let name = "probe " + Hex.encode(SecureRandom.bytes(count: 16))
        let secret = [0 as UInt8].withUnsafeBytes { ItemSecret(copying: $0) }
        try add(SecretItem(account: name, attributes: Array("{}".utf8), secret: secret))
        try remove(account: name)
    }
}

/// What may be known about an item without its secret.
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

    /// - Parameter bytes: 1 to 65,536; the caller wipes its own.
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

/// Why a call of ``SecretItems`` did nothing.
package enum SecretItemError: Error, Equatable, Sendable {
    case duplicate
    /// It is not there, or not as it was.
    case notFound
    /// The device has not been unlocked since it started.
    case locked
    /// Anything else, with the system's number.
    case other(Int32)
}
