import Foundation
import SealedPush
internal import _PushBase

extension KeyringError: CustomStringConvertible {
    /// One sentence for a person, with a hint.
    public var description: String {
        switch self {
        case .exists(let name):
            "there is a key named \(name) already, and keys are never overwritten: choose another name"
        case .notFound(let name):
            "there is no key named \(name) in this keyring: `sealedpush keys list` shows what there is"
        case .wrongKind(let name, let expected): "the key \(name) is not \(expected.article) \(expected.rawValue)'s"
        case .noSecret(let name): "only the public half of \(name) is here, and this needs the secret half"
        case .notUsable(let name, let state):
            switch state {
            case .revoked:
                "the keys of \(name) are revoked: `sealedpush keys erase \(name)`, and let it enrol anew; or `keys rotate \(name)`, if it is yours"
            case .erased: "the keys of \(name) are erased: `sealedpush keys rotate \(name)` makes a new one"
            case .retired:
                "the keys of \(name) are retired: `sealedpush keys rotate \(name)` makes a new one, if it is yours"
            case .active: "the key of \(name) waits to be used: `sealedpush keys confirm \(name)`"
            }
        case .unconfirmed(let name):
            "the new key of \(name) is not in use yet: `sealedpush keys confirm \(name)` once it is"
        case .nothingToConfirm(let name): "no key of \(name) waits to be confirmed"
        case .unverified(let name):
            "nobody vouches for the key of \(name): import its signed record, or say --unverified"
        case .enrolled(let name):
            "this record's device is enrolled as \(name): one device has one name; `sealedpush keys rename \(name)` gives it another"
        case .record(let error): error.description
        case .challenge(let error): error.description
        case .damaged(let file) where ["keyring.txt", "trust.txt"].contains(file.lastPathComponent):
            "\(path(file)) is damaged, and must not be deleted: put back a copy of this file, or restore the keyring from a backup"
        case .damaged(let file):
            "\(path(file)) is damaged: take it away and `sealedpush keys restore BACKUP --only NAME`; the other keys are not affected"
        case .altered(let file):
            "\(path(file)) was changed by something else than the keyring: take it away and `sealedpush keys restore BACKUP --only NAME`"
        case .wrongSecret(.passphrase): "this is not the keyring's passphrase"
        case .wrongSecret(.key): "this is not the keyring's key"
        case .needsSecret(.passphrase):
            "the keyring is sealed with a passphrase: name a file that holds it with --passphrase-file"
        case .needsSecret(.key):
            "the keyring is sealed with a key: name its file with --key-file, or set SEALED_PUSH_KEY"
        case .notSealed(let folder):
            "\(path(folder)) is not sealed, and it should be: look whether its keyring.txt was taken away; `sealedpush keys passphrase` seals a keyring"
        case .sealMissing(let file):
            "\(path(file)) is missing, and other files there are those of a sealed keyring: put it back from a copy or a backup, and find out who took it away"
        case .sealChanged(let folder, let isSealed, let note):
            "\(path(folder)) was sealed when it was last used, and \(isSealed ? "is sealed anew now" : "is not sealed now"): use nothing of it unless that was you or somebody you trust; then accept it with `rm '\(path(note))'`"
        case .outOfMemory: "there is too little memory for a passphrase, which takes 64 MiB"
        case .busy(let folder): "another process has been changing \(path(folder)) for a minute: try again"
        case .backup: "the backup is damaged, or was made with another passphrase or key"
        case .file(let file, let message): "\(path(file)): \(message)"
        }
    }

    /// Names in a folder may be anybody's: none of them moves a cursor.
    private func path(_ url: URL) -> String { TerminalText.printable(url.path(percentEncoded: false)) }
}

extension PublicKey.Kind {
    fileprivate var article: String {
        switch self {
        case .device, .sender: "a"
        case .authority: "an"
        }
    }
}
