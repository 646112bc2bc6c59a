public import SealedPush

/// One line of the audit log: what happened to which key, when, by which command. No secrets.
public struct AuditEntry: Hashable, Sendable {
    public let time: Timestamp
    public let event: Event
    /// Nil where it concerns the keyring as a whole.
    public let name: KeyName?
    /// The key's ID.
    public let key: String?
    /// What did it, such as `keys rotate`.
    public let command: String

    public enum Event: String, Sendable, CaseIterable {
        case generated, imported, renamed, rotated, confirmed, retired, revoked, erased, removed
        /// A challenge was made for somebody else's device.
        case challenged
        /// A device answered a challenge.
        case answered
        /// A secret was shown.
        case exportedSecret = "exported-secret"
        /// A record or a sender set was signed.
        case signed
        /// Passphrase, key or neither: the whole keyring was sealed anew.
        case sealed
        case backedUp = "backed-up"
        case restored
        case trusted, distrusted
    }
}
