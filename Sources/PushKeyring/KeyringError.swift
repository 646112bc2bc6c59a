public import Foundation
public import SealedPush

/// Why the keyring could not do what was asked. Never holds a secret.
public enum KeyringError: Error, Hashable, Sendable {
    /// There is a key of this name; nothing was changed.
    case exists(KeyName)
    /// There is no key of this name.
    case notFound(KeyName)
    /// The key of this name is of the other kind.
    case wrongKind(KeyName, expected: PublicKey.Kind)
    /// Only the public half of this key is here.
    case noSecret(KeyName)
    /// No key of this name is in a state that allows what was asked.
    case notUsable(KeyName, KeyLife.State)
    /// A newer key of this name waits to be confirmed; until then there is no further one.
    case unconfirmed(KeyName)
    /// There is nothing to confirm.
    case nothingToConfirm(KeyName)
    /// A device's key that nobody vouches for: it came without a record.
    case unverified(KeyName)
    /// The device of this record is enrolled under another name, so with another account.
    case enrolled(KeyName)
    /// A signed record was refused.
    case record(RecordError)
    /// A challenge or its answer was refused.
    case challenge(ChallengeError)
    /// A file that is no file of a keyring; the others are not affected.
    case damaged(URL)
    /// A file of a sealed keyring that was changed by something else than the keyring, or comes from another one.
    case altered(URL)
    /// The passphrase, or the key, is not this keyring's. It can't be told how far off it is.
    case wrongSecret(KeyringSecret.Kind)
    /// The keyring is sealed and this was not at hand.
    case needsSecret(KeyringSecret.Kind)
    /// A passphrase or key was named, or a seal demanded, for a keyring whose secrets are in the clear.
    case notSealed(URL)
    /// `keyring.txt` is missing, and other files are those of a sealed keyring: nothing in it can be believed.
    case sealMissing(URL)
    /// The keyring was seen sealed before, and now is not, or is sealed otherwise; the note says so.
    case sealChanged(URL, isSealed: Bool, note: URL)
    /// The system lacks the memory that a passphrase takes (64 MiB).
    case outOfMemory
    /// Another process has been changing this keyring for a minute.
    case busy(URL)
    /// A backup that is damaged, or was made with another passphrase or key.
    case backup
    /// A file or folder could not be read or written.
    case file(URL, message: String)
}
