public import Foundation
internal import PushCore
public import SealedPush

/// The reason that a keyring operation failed. It never contains a secret.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum KeyringError: Error, Hashable, Sendable {
    /// A key with this name already exists. Nothing was changed.
    case exists(KeyName)
    /// No key has this name.
    case notFound(KeyName)
    /// The key with this name has a different kind.
    case wrongKind(KeyName, expected: AnyPublicKey.Kind)
    /// An authority's key can't be replaced here, because apps have it built in.
    case notRotatable(KeyName)
    /// The device is this keyring's own, so it can't be asked to prove its key here.
    case ownDevice(KeyName)
    /// Only the public half of this key is here.
    case noSecret(KeyName)
    /// No key with this name is in a state that allows the operation.
    case notUsable(KeyName, KeyLife.State)
    /// A newer key with this name is waiting to be confirmed. Until then, no other can be made.
    case unconfirmed(KeyName)
    /// There's nothing to confirm.
    case nothingToConfirm(KeyName)
    /// The device's key is unverified, because it was added without a record.
    case unverified(KeyName)
    /// This record's device is enrolled under another name, and therefore with another account.
    case enrolled(KeyName)
    /// This build has no library with the algorithm of hybrid keys.
    case unsupported
    /// A signed record was rejected.
    case record(RecordError)
    /// A challenge or its answer was rejected.
    case challenge(ChallengeError)
    /// The file isn't a keyring, or is damaged.
    case damaged(URL)
    /// The file of a sealed keyring was changed by something other than the keyring.
    case altered(URL)
    /// The passphrase or key isn't this keyring's. There's no telling how close it is.
    case wrongSecret(KeyringSecret.Kind)
    /// The keyring is sealed, and this secret wasn't provided.
    case needsSecret(KeyringSecret.Kind)
    /// A passphrase or key was provided, or a seal required, but the keyring's secrets are in the clear.
    case notSealed(URL)
    /// According to the note, the keyring was sealed before. Now it isn't, or it's sealed differently.
    case sealChanged(URL, isSealed: Bool, note: URL)
    /// The keyring's secrets are in the clear, and other users can read, change, or replace its file.
    case exposed(URL, message: String)
    /// The system doesn't have the memory that a passphrase takes (64 MiB).
    case outOfMemory
    /// Another process has been changing this keyring for a minute.
    case busy(URL)
    /// The backup is damaged, or was made with another passphrase or key.
    case backup
    /// A file or folder couldn't be read or written.
    case file(URL, message: String)
    /// The system doesn't let this user read or write a file or folder, or root would create files in another user's folder.
    case notPermitted(URL, message: String)
}

extension KeyringError: CustomStringConvertible {
    /// A sentence for an operator. It doesn't say which command to run; that is up to each command.
    public var description: String {
        switch self {
        case .exists(let name):
            "a key named \(name) already exists, and keys are never overwritten; choose another name"
        case .notFound(let name): "there is no key named \(name) in this keyring"
        case .wrongKind(let name, let expected):
            "the key \(name) isn't \(expected == .authority ? "an" : "a") \(expected.rawValue)'s"
        case .notRotatable(let name):
            "\(name) is an authority, whose key is built into apps; generate another one, and release it with the app"
        case .ownDevice(let name):
            "\(name) is this keyring's own device; only another keyring, such as a server's, can ask for a proof of its key"
        case .noSecret(let name): "only the public half of \(name) is here, but this needs the secret half"
        case .notUsable(let name, let state):
            state == .active ? "the key of \(name) is waiting to be used" : "the keys of \(name) are \(state.rawValue)"
        case .unconfirmed(let name): "the new key of \(name) is not in use yet"
        case .nothingToConfirm(let name): "no key of \(name) is waiting to be confirmed"
        case .unverified(let name): "the key of \(name) is unverified; import its signed record"
        case .enrolled(let name): "this record's device is enrolled as \(name), and a device can have only one name"
        case .unsupported: "a hybrid key needs ML-KEM; use libsodium 1.0.22 or the Server trait"
        case .record(let error): error.description
        case .challenge(let error): error.description
        case .damaged(let file): "\(path(file)) is damaged"
        case .altered(let file): "\(path(file)) was changed by something other than the keyring"
        case .wrongSecret(let kind): "this is not the keyring's \(kind.rawValue)"
        case .needsSecret(let kind): "the keyring is sealed with a \(kind.rawValue)"
        case .notSealed(let folder):
            "\(path(folder)) is not sealed, but it should be; find out whether its keyring.txt was replaced"
        case .sealChanged(let folder, let isSealed, let note):
            "\(path(folder)) was sealed when it was last used, but now \(isSealed ? "its seal is new" : "it is not sealed"). Unless you know why, don't use it; to accept the change, run `rm '\(path(note))'`"
        case .exposed(let file, let message): "\(path(file)) is not sealed, but \(message)"
        case .outOfMemory: "not enough memory for a passphrase, which takes 64 MiB"
        case .busy(let folder): "another process has been changing \(path(folder)) for a minute; try again"
        case .backup: "the backup is damaged, or was made with another passphrase or key"
        case .file(let file, let message), .notPermitted(let file, let message): "\(path(file)): \(message)"
        }
    }

    static func system(_ place: URL, _ failure: DurableFiles.Failure) -> KeyringError {
        if failure.code == EACCES { return .notPermitted(place, message: failure.message) }
        let message =
            switch failure.code {
            case ELOOP: "this is a link, and a keyring's file must not be one"
            case EINVAL: "this isn't a regular file"
            case EFBIG: "it is larger than \(TextFile.maximumByteCount) bytes"
            default: failure.message
            }
        return .file(place, message: message)
    }

    /// Anyone may have named a file in the folder. Escaping keeps names from moving the cursor.
    private func path(_ url: URL) -> String { TerminalText.printable(url.path(percentEncoded: false)) }
}
