public import Foundation
internal import PushCore
public import SealedPush

/// Why the keyring could not do what was asked. Never holds a secret.
public enum KeyringError: Error, Hashable, Sendable {
    /// There is a key of this name; nothing was changed.
    case exists(KeyName)
    /// There is no key of this name.
    case notFound(KeyName)
    /// The key of this name is of the other kind.
    case wrongKind(KeyName, expected: AnyPublicKey.Kind)
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
    /// The file is not one of a keyring, or is damaged.
    case damaged(URL)
    /// The file of a sealed keyring was changed by something else than the keyring.
    case altered(URL)
    /// The passphrase, or the key, is not this keyring's. It can't be told how far off it is.
    case wrongSecret(KeyringSecret.Kind)
    /// The keyring is sealed and this was not at hand.
    case needsSecret(KeyringSecret.Kind)
    /// A passphrase or key was named, or a seal demanded, for a keyring whose secrets are in the clear.
    case notSealed(URL)
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

extension KeyringError: CustomStringConvertible {
    /// One sentence for a person; what to type is for a command to say.
    public var description: String {
        switch self {
        case .exists(let name):
            "there is a key named \(name) already, and keys are never overwritten: choose another name"
        case .notFound(let name): "there is no key named \(name) in this keyring"
        case .wrongKind(let name, let expected):
            "the key \(name) is not \(expected == .authority ? "an" : "a") \(expected.rawValue)'s"
        case .noSecret(let name): "only the public half of \(name) is here, and this needs the secret half"
        case .notUsable(let name, let state):
            state == .active ? "the key of \(name) waits to be used" : "the keys of \(name) are \(state.rawValue)"
        case .unconfirmed(let name): "the new key of \(name) is not in use yet"
        case .nothingToConfirm(let name): "no key of \(name) waits to be confirmed"
        case .unverified(let name): "nobody vouches for the key of \(name): import its signed record"
        case .enrolled(let name): "this record's device is enrolled as \(name): one device has one name"
        case .record(let error): error.description
        case .challenge(let error): error.description
        case .damaged(let file): "\(path(file)) is damaged"
        case .altered(let file): "\(path(file)) was changed by something else than the keyring"
        case .wrongSecret(let kind): "this is not the keyring's \(kind.rawValue)"
        case .needsSecret(let kind): "the keyring is sealed with a \(kind.rawValue)"
        case .notSealed(let folder):
            "\(path(folder)) is not sealed, and it should be: find out whether its keyring.txt was replaced"
        case .sealChanged(let folder, let isSealed, let note):
            "\(path(folder)) was sealed when it was last used, and \(isSealed ? "is sealed anew now" : "is not sealed now"): use nothing of it unless that was you or somebody you trust; then accept it with `rm '\(path(note))'`"
        case .outOfMemory: "there is too little memory for a passphrase, which takes 64 MiB"
        case .busy(let folder): "another process has been changing \(path(folder)) for a minute: try again"
        case .backup: "the backup is damaged, or was made with another passphrase or key"
        case .file(let file, let message): "\(path(file)): \(message)"
        }
    }

    /// What the system has refused.
    static func system(_ place: URL, _ failure: DurableFiles.Failure) -> KeyringError {
        let message =
            switch failure.code {
            case ELOOP: "this is a link, and a keyring's file must not be one"
            case EINVAL: "this is not a regular file"
            case EFBIG: "it has more than \(TextFile.maximumByteCount) bytes"
            default: failure.message
            }
        return .file(place, message: message)
    }

    /// Names in a folder may be anybody's: none of them moves a cursor.
    private func path(_ url: URL) -> String { TerminalText.printable(url.path(percentEncoded: false)) }
}
