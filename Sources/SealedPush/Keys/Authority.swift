package import PushCrypto

/// The public half of an app's authority: whose ``SenderSet`` a device believes. Its text begins with `pushauthority1`.
///
/// Safe to print, store and send. Compiled into the app, so that a sender's key can be replaced without an update of the
/// app. Source: Specification 8.
public struct Authority: Hashable, Sendable {
    package let publicKey: Ed25519PublicKey
    /// The first four bytes of its SHA-256, to tell keys apart at a glance.
    public let keyID: KeyID

    /// Reads `pushauthority1…`: 72 characters, all small or all capital letters.
    public init(parsing text: String) throws(KeyTextError) {
        self.init(try KeyKind.authority.publicKey(parsing: text))
    }

    package init(_ publicKey: Ed25519PublicKey) {
        self.publicKey = publicKey
        keyID = KeyID(of: publicKey)
    }
}

extension Authority: CustomStringConvertible {
    /// The text that ``init(parsing:)`` reads.
    public var description: String { KeyKind.authority.text(of: publicKey) }
}

extension Authority: ExpressibleByStringLiteral {
    /// Reads a key that stands in the program's own source; one that is no authority stops the program.
    public init(stringLiteral text: String) {
        do {
            try self.init(parsing: text)
        } catch {
            error.stop(the: .authority, text)
        }
    }
}
