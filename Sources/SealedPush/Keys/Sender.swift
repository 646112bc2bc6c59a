package import PushCrypto

/// The public half of a sender's key: whom a device believes. Its text begins with `pushsender1`.
///
/// Safe to print, store and send. A device trusts the senders that its app names and no others.
/// Source: Specification 8.
public struct Sender: Hashable, Sendable {
    package let publicKey: X25519PublicKey
    /// The hint that travels with each authenticated envelope.
    public let keyID: KeyID

    /// Reads `pushsender1…`: 69 characters, all small or all capital letters.
    public init(parsing text: String) throws(KeyTextError) {
        self.init(try KeyKind.sender.publicKey(parsing: text))
    }

    package init(_ publicKey: X25519PublicKey) {
        self.publicKey = publicKey
        keyID = KeyID(of: publicKey)
    }
}

extension Sender: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    public var description: String { KeyKind.sender.text(of: publicKey) }
}

extension Sender: ExpressibleByStringLiteral {
    /// Reads a key that stands in the program's own source; one that is no sender's key stops the program.
    public init(stringLiteral text: String) {
        do {
            try self.init(parsing: text)
        } catch {
            error.stop(the: .sender, text)
        }
    }
}
