package import PushCrypto

/// The public half of a device's enrolment key: whose ``DeviceRecord`` a server believes. Its text begins with
/// `pushenrolment1`.
///
/// Safe to print, store and send. A server pins it to an account and a device inside the app's own login.
/// Source: Specification 8.
public struct Enrolment: Hashable, Sendable {
    package let publicKey: Ed25519PublicKey
    /// The first four bytes of its SHA-256, to tell keys apart at a glance.
    public let keyID: KeyID

    /// Reads `pushenrolment1…`: 72 characters, all small or all capital letters.
    public init(parsing text: String) throws(KeyTextError) {
        self.init(try KeyKind.enrolment.publicKey(parsing: text))
    }

    package init(_ publicKey: Ed25519PublicKey) {
        self.publicKey = publicKey
        keyID = KeyID(of: publicKey)
    }
}

extension Enrolment: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    public var description: String { KeyKind.enrolment.text(of: publicKey) }
}
