/// What seals a keyring's secrets.
public enum KeyringSecret: Sendable {
    case passphrase(Passphrase)
    case key(KeyringKey)

    /// Which of the two a keyring asks for.
    public enum Kind: String, Sendable {
        /// A passphrase, through Argon2id.
        case passphrase
        /// A key from a file or the environment.
        case key
    }

    public var kind: Kind {
        switch self {
        case .passphrase: .passphrase
        case .key: .key
        }
    }
}
