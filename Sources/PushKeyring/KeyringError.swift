public import Foundation

/// Why the keyring could not do what was asked. Never holds a secret.
public enum KeyringError: Error, Equatable, Sendable {
    /// There is a key of this name; nothing was changed.
    case exists(KeyName)
    /// There is no key of this name.
    case notFound(KeyName)
    /// The key of this name is of the other kind.
    case wrongKind(KeyName, expected: PublicKey.Kind)
    /// Only the public half of this key is here.
    case noSecret(KeyName)
    /// A file that is no key file; the others are not affected.
    case damaged(URL)
    /// A file or folder could not be read or written.
    case file(URL, message: String)
}

extension KeyringError: CustomStringConvertible {
    /// One sentence for a person, with a hint.
    public var description: String {
        switch self {
        case .exists(let name):
            "there is a key named \(name) already, and keys are never overwritten: choose another name"
        case .notFound(let name):
            "there is no key named \(name) in this keyring: `sealedpush keys list` shows what there is"
        case .wrongKind(let name, let expected): "the key \(name) is not a \(expected.rawValue)'s"
        case .noSecret(let name): "only the public half of \(name) is here, and this needs the secret half"
        case .damaged(let file):
            "\(file.path(percentEncoded: false)) is damaged: restore it from a backup, or delete it where the other half of the key is whole"
        case .file(let file, let message): "\(file.path(percentEncoded: false)): \(message)"
        }
    }
}
