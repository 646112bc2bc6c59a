internal import PushCrypto

/// Where a device keeps small secrets, each under a name: Apple's keychain, or memory.
///
/// The seam between the life of keys, which is the same everywhere, and the system. Called from several threads and
/// processes at once. Each call is whole or not at all; two calls are never one, and a process may be killed between them.
package protocol SecretItems: Sendable {
    /// Every item, as they were at one moment.
    func items() throws(SecretItemError) -> [SecretItem]

    /// Adds an item under a name that is free.
    ///
    /// - Throws: `duplicate` where it is not.
    func add(_ item: SecretItem) throws(SecretItemError)

    /// Gives an item other attributes, if it still is what it was when it was read.
    ///
    /// - Throws: `notFound` where it is gone, or another process has changed it.
    func replace(_ item: SecretItem, attributes: [UInt8]) throws(SecretItemError)

    /// Destroys the item of this name, whatever its attributes are.
    ///
    /// - Throws: `notFound` where there is none.
    func remove(account: String) throws(SecretItemError)
}

/// One secret, and what may be known about it.
package struct SecretItem: Sendable {
    /// Its name.
    package let account: String
    /// JSON of a few hundred bytes; not secret.
    package let attributes: [UInt8]
    package let secret: ItemSecret

    package init(account: String, attributes: [UInt8], secret: ItemSecret) {
        self.account = account
        self.attributes = attributes
        self.secret = secret
    }
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
    /// There is an item of this name.
    case duplicate
    /// There is none, or not as it was.
    case notFound
    /// The device has not been unlocked since it started.
    case locked
    /// Anything else, with the system's number.
    case other(Int32)
}
