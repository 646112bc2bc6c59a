internal import SealedPush

/// A secret as the file stores it.
enum StoredSecret: Sendable {
    case open(SecretText)
    /// Sealed in a keyring that isn't unlocked. Only its presence is known.
    case sealed

    init?(_ key: PrivateKey<some KeyRole>) {
        guard let text = key.withSecretText({ SecretText(copying: $0) }) else { return nil }
        self = .open(text)
    }

    /// Returns the key, or nil if it's sealed or isn't the secret of such a key.
    func key<Role: KeyRole>(_ role: Role.Type) -> PrivateKey<Role>? {
        guard case .open(let text) = self else { return nil }
        return text.withBytes { try? PrivateKey<Role>(parsing: $0) }
    }
}
