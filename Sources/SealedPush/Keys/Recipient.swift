package import PushCrypto

/// The public half of a device's key: what one seals to. Its text begins with `push1`.
///
/// Safe to print, store and send; to be believed only from a source that the app trusts, for whoever puts in a
/// recipient of their own reads what is sealed to it. Source: Specification 8.
public struct Recipient: Hashable, Sendable {
    package let publicKey: X25519PublicKey
    /// The hint that travels with each envelope.
    public let keyID: KeyID

    /// Reads `push1…`: 63 characters, all small or all capital letters.
    public init(parsing text: String) throws(KeyTextError) {
        self.init(try KeyKind.recipient.publicKey(parsing: text))
    }

    package init(_ publicKey: X25519PublicKey) {
        self.publicKey = publicKey
        keyID = KeyID(of: publicKey)
    }
}

extension Recipient: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    public var description: String { KeyKind.recipient.text(of: publicKey) }
}
